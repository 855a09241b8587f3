// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/plot_tickers.h"

#include <qcustomplot.h>

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

class ValueTicker : public QCPAxisTicker {
 protected:
  double getTickStep(const QCPRange& range) override {
    m_step = QCPAxisTicker::getTickStep(range);
    return m_step;
  }
  QString getTickLabel(double tick, const QLocale& locale, QChar, int) override {
    int decimals = 0;
    double rest = m_step;  // 0.025 needs three decimals
    while (decimals < 6 && std::abs(rest - std::round(rest)) > 1e-6 * rest) {
      rest *= 10;
      ++decimals;
    }
    return locale.toString(tick, 'f', decimals);
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

QSharedPointer<QCPAxisTicker> rateTicker(int count) {
  auto ticker = QSharedPointer<RateTicker>::create();
  ticker->setTickCount(count);
  return ticker;
}

}  // namespace tessera::ui
