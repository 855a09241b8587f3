// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/mark_painter.h"

#include <cmath>
#include <limits>
#include <map>

#include "ui/theme.h"

namespace tessera::ui {
namespace {

void drawMark(QPainter& painter, PlotMark::Shape shape, double x, double y) {
  const Theme& theme = Theme::current();
  painter.setBrush(Qt::NoBrush);
  switch (shape) {
    case PlotMark::Shape::Dot:
      painter.setPen(Qt::NoPen);
      painter.setBrush(theme.dim);
      painter.drawEllipse(QPointF(x, y), 2.2, 2.2);
      break;
    case PlotMark::Shape::Plus:
      painter.setPen(QPen(theme.accent, 1.8, Qt::SolidLine, Qt::RoundCap));
      painter.drawLine(QPointF(x - 3.5, y), QPointF(x + 3.5, y));
      painter.drawLine(QPointF(x, y - 3.5), QPointF(x, y + 3.5));
      break;
    case PlotMark::Shape::Triangle: {
      painter.setPen(Qt::NoPen);
      painter.setBrush(theme.warn);
      const QPointF corners[] = {{x - 4.5, y + 3.5}, {x + 4.5, y + 3.5}, {x, y - 4}};
      painter.drawPolygon(corners, 3);
      break;
    }
    case PlotMark::Shape::Cross:
      painter.setPen(QPen(theme.bad, 1.8, Qt::SolidLine, Qt::RoundCap));
      painter.drawLine(QPointF(x - 3.5, y - 3.5), QPointF(x + 3.5, y + 3.5));
      painter.drawLine(QPointF(x - 3.5, y + 3.5), QPointF(x + 3.5, y - 3.5));
      break;
  }
}

}  // namespace

const PlotMark* markAt(const std::vector<PlotMark>& marks, const PlotGeometry& geometry,
                       QPointF position) {
  if (std::abs(position.y() - geometry.markY()) > PlotGeometry::kMarkStrip / 2.0) return nullptr;
  const PlotMark* found = nullptr;
  for (const PlotMark& mark : marks) {
    if (std::abs(geometry.x(mark.time) - position.x()) <= 6) found = &mark;
  }
  return found;
}

void drawMarks(QPainter& painter, const PlotGeometry& geometry,
               const std::vector<PlotMark>& marks) {
  const QRect area = geometry.area();
  painter.save();
  painter.setClipRect(geometry.clip());
  double last = -std::numeric_limits<double>::infinity();
  std::map<PlotMark::Shape, double> drawn;  // where the last one of each shape is
  for (const PlotMark& mark : marks) {
    const double at = geometry.x(mark.time);
    if (at < area.left() - 4 || at > area.right() + 4) continue;
    if (mark.shape == PlotMark::Shape::Dot && at - last < 5) continue;
    const auto [same, first] = drawn.try_emplace(mark.shape, at);
    if (!first && at - same->second < 1) continue;
    same->second = last = at;
    drawMark(painter, mark.shape, at, geometry.markY());
  }
  painter.restore();
}

}  // namespace tessera::ui
