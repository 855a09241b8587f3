// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/playhead.h"

#include <algorithm>
#include <cmath>

#include "ui/theme.h"

namespace tessera::ui {
namespace {

constexpr double kGrab = 5;  // pixels beside the line

}  // namespace

bool grabsPlayhead(const PlotGeometry& geometry, std::optional<double> playhead, QPointF position) {
  const QRect area = geometry.area();
  if (position.x() < area.left() - kGrab || position.x() > area.right() + kGrab) return false;
  return position.y() > area.bottom() ||
         (playhead && std::abs(geometry.x(*playhead) - position.x()) <= kGrab);
}

std::vector<double> playheadStops(const std::vector<PlotBand>& bands,
                                  const std::vector<PlotMark>& marks, const PlotRange& samples) {
  std::vector<double> times;
  for (const PlotBand& band : bands) times.push_back(band.start);
  for (const PlotMark& mark : marks) times.push_back(mark.time);
  std::erase_if(times, [&](double time) { return !samples.contains(time); });
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  return times;
}

void drawPlayhead(QPainter& painter, const PlotGeometry& geometry, double time) {
  const Theme& theme = Theme::current();
  const QRect area = geometry.area();
  const double at = std::round(geometry.x(time)) + 0.5;
  painter.setPen(QPen(theme.text, 1.2));
  painter.drawLine(QPointF(at, area.top() - 2), QPointF(at, area.bottom() + 1));
  const double y = area.bottom() + 1;
  const QPointF handle[] = {
      {at, y}, {at + 4.5, y + 5}, {at + 4.5, y + 10}, {at - 4.5, y + 10}, {at - 4.5, y + 5}};
  painter.setPen(Qt::NoPen);
  painter.setBrush(theme.text);
  painter.drawPolygon(handle, 5);
}

}  // namespace tessera::ui
