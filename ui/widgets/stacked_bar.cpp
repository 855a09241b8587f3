// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/stacked_bar.h"

#include <QPainter>
#include <QStringList>
#include <algorithm>
#include <utility>

#include "ui/format.h"
#include "ui/theme.h"

namespace tessera::ui {
namespace {

constexpr int kBarHeight = 14;
constexpr int kLegendTop = 22;
constexpr int kLegendRow = 18;
constexpr int kSwatch = 9;
constexpr int kMinPart = 3;

QColor color(StackedBar::Tone tone) {
  const Theme& theme = Theme::current();
  switch (tone) {
    case StackedBar::Tone::Stay:
      return theme.faint;
    case StackedBar::Tone::Inside:
      return identity(2);
    case StackedBar::Tone::Network:
      return theme.accent;
    case StackedBar::Tone::Storage:
      return theme.warn;
  }
  return {};
}

QString label(const StackedBar::Part& part) {
  return part.name + QLatin1Char(' ') + format::bytes(part.bytes);
}

}  // namespace

StackedBar::StackedBar(QWidget* parent) : QWidget(parent) {
  QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  policy.setHeightForWidth(true);
  setSizePolicy(policy);
}

void StackedBar::setParts(std::vector<Part> parts) {
  if (parts == m_parts) return;
  m_parts = std::move(parts);
  QStringList names;
  for (const Part& part : m_parts) names << label(part);
  setAccessibleName(names.join(QStringLiteral(", ")));
  setToolTip(accessibleName());
  updateGeometry();
  update();
}

void StackedBar::setOutdated(bool outdated) {
  if (m_outdated == outdated) return;
  m_outdated = outdated;
  update();
}

int StackedBar::legendRows(int width) const {
  const QFontMetrics metrics(uiFont(11));
  int rows = 1, x = 0;
  for (const Part& part : m_parts) {
    const int wide = kSwatch + 5 + metrics.horizontalAdvance(label(part));
    if (x > 0 && x + wide > width) {
      ++rows;
      x = 0;
    }
    x += wide + 12;
  }
  return rows;
}

int StackedBar::heightForWidth(int width) const {
  return kLegendTop + kLegendRow * legendRows(width);
}

QSize StackedBar::sizeHint() const { return {300, heightForWidth(qMax(300, width()))}; }
QSize StackedBar::minimumSizeHint() const { return {200, kLegendTop + kLegendRow}; }

void StackedBar::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::current();
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setOpacity(m_outdated ? 0.45 : 1.0);

  std::int64_t total = 0;
  int shown = 0;
  for (const Part& part : m_parts) {
    total += part.bytes;
    shown += part.bytes > 0;
  }
  if (total == 0) {
    painter.setBrush(theme.track);
    painter.drawRoundedRect(QRectF(0, 0, width(), kBarHeight), 3, 3);
  } else {
    const double room = width() - kMinPart * shown;
    double x = 0;
    for (const Part& part : m_parts) {
      if (part.bytes == 0) continue;
      const double wide =
          kMinPart + room * static_cast<double>(part.bytes) / static_cast<double>(total);
      painter.setBrush(color(part.tone));
      painter.drawRoundedRect(QRectF(x, 0, std::max(2.0, wide - 1.5), kBarHeight), 3, 3);
      x += wide;
    }
  }

  QFont font = uiFont(11);
  font.setStrikeOut(m_outdated);
  painter.setFont(font);
  const QFontMetrics metrics(font);
  int x = 0, y = kLegendTop;
  for (const Part& part : m_parts) {
    const QString text = label(part);
    const int wide = kSwatch + 5 + metrics.horizontalAdvance(text);
    if (x > 0 && x + wide > width()) {
      x = 0;
      y += kLegendRow;
    }
    painter.setPen(Qt::NoPen);
    painter.setBrush(color(part.tone));
    painter.drawRoundedRect(QRectF(x, y + 4, kSwatch, kSwatch), 2, 2);
    painter.setPen(theme.dim);
    painter.drawText(QRect(x + kSwatch + 5, y, wide, kLegendRow - 1),
                     Qt::AlignLeft | Qt::AlignVCenter, text);
    x += wide + 12;
  }
}

}  // namespace tessera::ui
