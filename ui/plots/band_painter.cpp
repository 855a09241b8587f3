// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/band_painter.h"

#include <QFontMetricsF>
#include <algorithm>
#include <map>

#include "ui/theme.h"

namespace tessera::ui {
namespace {

constexpr double kLeastWidth = 7;  // pixels

QRectF rectOf(const PlotBand& band, const PlotGeometry& geometry) {
  const QRect area = geometry.area();
  double left = geometry.x(band.start), right = geometry.x(band.end);
  if (right - left < kLeastWidth) {
    const double middle = (left + right) / 2;
    left = middle - kLeastWidth / 2;
    right = middle + kLeastWidth / 2;
  }
  return QRectF(QPointF(left, area.top()), QPointF(right, area.bottom() + 1.0));
}

/// Returns the part of the band's `rect` in which the job was paused.
QRectF pauseOf(const PlotBand& band, const QRectF& rect, const PlotGeometry& geometry) {
  QRectF pause(QPointF(geometry.x(band.pauseStart), rect.top()),
               QPointF(geometry.x(band.pauseEnd), rect.bottom()));
  if (pause.width() < kLeastWidth) {
    const double least = rect.left() + kLeastWidth / 2;
    const double middle =
        std::clamp(pause.center().x(), least, std::max(least, rect.right() - kLeastWidth / 2));
    pause.setLeft(middle - kLeastWidth / 2);
    pause.setRight(middle + kLeastWidth / 2);
  }
  return pause;
}

void hatch(QPainter& painter, const QRectF& rect, const QColor& color) {
  painter.save();
  painter.setClipRect(rect, Qt::IntersectClip);
  painter.setPen(QPen(color, 1));
  for (double at = rect.left() - rect.height(); at < rect.right(); at += 5)
    painter.drawLine(QPointF(at, rect.bottom()), QPointF(at + rect.height(), rect.top()));
  painter.restore();
}

void drawBand(QPainter& painter, const PlotGeometry& geometry, const PlotBand& band,
              bool isSelected, const QColor& hue) {
  const Theme& theme = Theme::current();
  const bool undone = band.outcome == PlotBand::Outcome::Undone;
  const QColor tint = undone ? blend(theme.warn, theme.panel, 0.14) : theme.accentSoft;
  const QRectF rect = rectOf(band, geometry);
  const QRectF area(geometry.area());
  const QRectF inside = rect.intersected(area);
  painter.fillRect(inside, blend(tint, theme.panel, 0.55));
  painter.fillRect(pauseOf(band, rect, geometry).intersected(area),
                   isSelected ? blend(hue, theme.panel, theme.isDark ? 0.45 : 0.30) : tint);
  if (undone) hatch(painter, inside, blend(theme.warn, theme.panel, 0.55));
  if (isSelected) {
    painter.setPen(QPen(hue, 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(inside.adjusted(0.5, 0.5, -0.5, -0.5));
  }
}

}  // namespace

const PlotBand* bandAt(const std::vector<PlotBand>& bands, const PlotGeometry& geometry,
                       QPointF position) {
  const PlotBand* found = nullptr;
  for (const PlotBand& band : bands) {
    const QRectF rect = rectOf(band, geometry).adjusted(-3, -PlotGeometry::kTopMargin, 3, 0);
    if (rect.contains(position)) found = &band;
  }
  return found;
}

void drawBands(QPainter& painter, const PlotGeometry& geometry, const std::vector<PlotBand>& bands,
               std::optional<std::int64_t> selected) {
  const Theme& theme = Theme::current();
  const QRect area = geometry.area();
  painter.save();
  painter.setClipRect(geometry.clip());
  const QFont font = uiFont(10.5, QFont::Medium);
  const QFontMetricsF metrics(font);
  double labelEnd = area.left();
  std::map<PlotBand::Outcome, double> drawn;  // where the last one of each kind begins
  for (const PlotBand& band : bands) {
    const QRectF rect = rectOf(band, geometry);
    if (rect.right() < area.left() || rect.left() > area.right()) continue;
    // Thousands of bands cost no more than their pixels.
    const auto [last, first] = drawn.try_emplace(band.outcome, rect.left());
    const bool isCovered = !first && rect.left() - last->second < 1 && rect.width() <= kLeastWidth;
    if (isCovered && selected != band.txn) continue;
    last->second = rect.left();
    const QColor hue = band.outcome == PlotBand::Outcome::Undone ? theme.warn : theme.accent;
    drawBand(painter, geometry, band, selected == band.txn, hue);
    const double at = std::max(rect.left() + 1, static_cast<double>(area.left()));
    if (at < labelEnd) continue;
    painter.setFont(font);
    painter.setPen(hue);
    painter.drawText(QPointF(at, area.top() - 4), band.label);
    labelEnd = at + metrics.horizontalAdvance(band.label) + 10;
  }
  painter.restore();
}

}  // namespace tessera::ui
