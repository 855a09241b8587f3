// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/plot_tickers.h"

#include <qcustomplot.h>

#include <algorithm>
#include <cmath>

#include "ui/format.h"

namespace tessera::ui {
namespace {

// QCPAxisTickerDateTime keeps the strategy of the widest range so far, days of months, and then has
// no tick within a minute.
class ClockTicker : public QCPAxisTicker {
 public:
  ClockTicker() { setTickCount(4); }

 protected:
  QString getTickLabel(double tick, const QLocale& locale, QChar, int) override {
    return locale.toString(clockOf(tick), m_format);
  }
  double getTickStep(const QCPRange& range) override {
    static const QVector<double> steps{
        0.1, 0.2, 0.5,  1,    2,    5,     10,     15,     30,     60,           120,         300,
        600, 900, 1800, 3600, 7200, 10800, 21'600, 43'200, 86'400, 2 * 86'400.0, 7 * 86'400.0};
    const double wanted = range.size() / tickCount();
    const double step = wanted < steps.back() ? pickClosest(wanted, steps)
                                              : std::ceil(wanted / steps.back()) * steps.back();
    m_format = step >= 86'400 ? QStringLiteral("d MMM")
               : step >= 60   ? QStringLiteral("HH:mm")
               : step >= 1    ? QStringLiteral("HH:mm:ss")
                              : QStringLiteral("HH:mm:ss.zzz");
    return step;
  }

 private:
  QString m_format;
};

/// 0.025 needs three decimals.
int decimalsOf(double step) {
  int decimals = 0;
  while (decimals < 6 && std::abs(step - std::round(step)) > 1e-6 * step) {
    step *= 10;
    ++decimals;
  }
  return decimals;
}

class ValueTicker : public QCPAxisTicker {
 protected:
  double getTickStep(const QCPRange& range) override {
    m_step = QCPAxisTicker::getTickStep(range);
    return m_step;
  }
  QString getTickLabel(double tick, const QLocale& locale, QChar, int) override {
    return locale.toString(tick, 'f', decimalsOf(m_step));
  }

 private:
  double m_step = 1;
};

class RateTicker : public QCPAxisTicker {
 protected:
  QString getTickLabel(double tick, const QLocale&, QChar, int) override {
    return format::shortCount(tick);
  }
};

// One unit for the whole axis, and as many decimals as distinguish its ticks.
class QuantityTicker : public QCPAxisTicker {
 protected:
  double getTickStep(const QCPRange& range) override {
    m_step = QCPAxisTicker::getTickStep(range);
    const double largest = std::max(std::abs(range.lower), std::abs(range.upper));
    m_unit = largest < 1e4 ? 1 : largest < 1e6 ? 1e3 : largest < 1e9 ? 1e6 : 1e9;
    m_isPower = largest < 1e-3 || largest >= 1e13;
    return m_step;
  }
  QString getTickLabel(double tick, const QLocale& locale, QChar, int) override {
    if (std::abs(tick) < 1e-9 * m_step) return locale.toString(0);
    if (m_isPower) return locale.toString(tick, 'e', 1);
    const QString number = locale.toString(tick / m_unit, 'f', decimalsOf(m_step / m_unit));
    return m_unit == 1 ? number : number + QLatin1Char(' ') + format::unitOf(m_unit);
  }

 private:
  double m_step = 1, m_unit = 1;
  bool m_isPower = false;
};

}  // namespace

QDateTime clockOf(double time) {
  return QDateTime::fromMSecsSinceEpoch(static_cast<qint64>(std::llround(time * 1000)));
}

QString clockText(double time) { return clockOf(time).toString(QStringLiteral("HH:mm:ss")); }

QSharedPointer<QCPAxisTicker> clockTicker() { return QSharedPointer<ClockTicker>::create(); }

QSharedPointer<QCPAxisTicker> valueTicker(int count) {
  auto ticker = QSharedPointer<ValueTicker>::create();
  ticker->setTickCount(count);
  return ticker;
}

QSharedPointer<QCPAxisTicker> quantityTicker(int count) {
  auto ticker = QSharedPointer<QuantityTicker>::create();
  ticker->setTickCount(count);
  return ticker;
}

QSharedPointer<QCPAxisTicker> rateTicker(int count) {
  auto ticker = QSharedPointer<RateTicker>::create();
  ticker->setTickCount(count);
  return ticker;
}

}  // namespace tessera::ui
