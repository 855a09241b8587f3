// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/stacked_bar.h"

#include <QPainter>
#include <QResizeEvent>
#include <QStringList>
#include <algorithm>
#include <utility>

#include "ui/format.h"
#include "ui/theme.h"

namespace tessera::ui {
namespace {

constexpr int kStackedBarHeight = 14;
constexpr int kStackedLegendTop = 22;
constexpr int kLegendRow = 18;
constexpr int kStackedSwatch = 9;
constexpr int kMinByteSegment = 3;

QColor toneColor(StackedBar::Tone tone) {
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
    case StackedBar::Tone::Parameters:
      return theme.isDark ? blend(Qt::white, identity(0), 0.35) : identity(0);
    case StackedBar::Tone::Optimizer:
      return identity(1);
    case StackedBar::Tone::Gradients:
      return theme.faint;
    case StackedBar::Tone::Free:
      return theme.track;
  }
  return {};
}

QString segmentLabel(const StackedBar::Segment& segment) {
  return segment.name + QLatin1Char(' ') + format::bytes(segment.bytes);
}

}  // namespace

StackedBar::StackedBar(QWidget* parent) : QWidget(parent) {
  QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  policy.setHeightForWidth(true);
  setSizePolicy(policy);
}

void StackedBar::setSegments(std::vector<Segment> segments) {
  if (segments == m_segments) return;
  m_segments = std::move(segments);
  QStringList names;
  for (const Segment& segment : m_segments) names << segmentLabel(segment);
  setAccessibleName(names.join(QStringLiteral(", ")));
  setToolTip(accessibleName());
  keepLegend();
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
  for (const Segment& segment : m_segments) {
    const int wide = kStackedSwatch + 5 + metrics.horizontalAdvance(segmentLabel(segment));
    if (x > 0 && x + wide > width) {
      ++rows;
      x = 0;
    }
    x += wide + 12;
  }
  return rows;
}

// A layout may know nothing of heights that depend on widths: long names and TiB need a second row.
void StackedBar::keepLegend() { setMinimumHeight(heightForWidth(width())); }

void StackedBar::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  if (event->size().width() != event->oldSize().width()) keepLegend();
}

int StackedBar::heightForWidth(int width) const {
  return kStackedLegendTop + kLegendRow * legendRows(width);
}

QSize StackedBar::sizeHint() const { return {300, heightForWidth(width())}; }
QSize StackedBar::minimumSizeHint() const { return {200, kStackedLegendTop + kLegendRow}; }

void StackedBar::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::current();
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setOpacity(m_outdated ? 0.45 : 1.0);

  std::int64_t total = 0;
  int shown = 0;
  for (const Segment& segment : m_segments) {
    total += segment.bytes;
    shown += segment.bytes > 0;
  }
  if (total == 0) {
    painter.setBrush(theme.track);
    painter.drawRoundedRect(QRectF(0, 0, width(), kStackedBarHeight), 3, 3);
  } else {
    const double room = width() - kMinByteSegment * shown;
    double x = 0;
    for (const Segment& segment : m_segments) {
      if (segment.bytes == 0) continue;
      const double wide =
          kMinByteSegment + room * static_cast<double>(segment.bytes) / static_cast<double>(total);
      painter.setBrush(toneColor(segment.tone));
      painter.drawRoundedRect(QRectF(x, 0, std::max(2.0, wide - 1.5), kStackedBarHeight), 3, 3);
      x += wide;
    }
  }

  QFont font = uiFont(11);
  font.setStrikeOut(m_outdated);
  painter.setFont(font);
  const QFontMetrics metrics(font);
  int x = 0, y = kStackedLegendTop;
  for (const Segment& segment : m_segments) {
    const QString text = segmentLabel(segment);
    const int wide = kStackedSwatch + 5 + metrics.horizontalAdvance(text);
    if (x > 0 && x + wide > width()) {
      x = 0;
      y += kLegendRow;
    }
    painter.setPen(Qt::NoPen);
    painter.setBrush(toneColor(segment.tone));
    painter.drawRoundedRect(QRectF(x, y + 4, kStackedSwatch, kStackedSwatch), 2, 2);
    painter.setPen(theme.dim);
    painter.drawText(QRect(x + kStackedSwatch + 5, y, wide, kLegendRow - 1),
                     Qt::AlignLeft | Qt::AlignVCenter, text);
    x += wide + 12;
  }
}

}  // namespace tessera::ui
