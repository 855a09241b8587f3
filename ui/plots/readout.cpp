// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/readout.h"

#include <QFontMetricsF>
#include <algorithm>
#include <cmath>

#include "ui/theme.h"

namespace tessera::ui {
namespace {

QFont boxFont() { return uiFont(11, QFont::Medium); }

}  // namespace

QRectF readoutBox(const PlotGeometry& geometry, const QString& text, double at, double top) {
  const QRect area = geometry.area();
  QRectF box(at + 8, top, QFontMetricsF(boxFont()).horizontalAdvance(text) + 16, 22);
  if (box.right() > area.right() + PlotGeometry::kRightMargin - 4) box.moveRight(at - 8);
  box.moveLeft(std::max(box.left(), 4.0));
  box.moveTop(std::clamp(box.top(), 1.0, std::max(1.0, area.bottom() - 24.0)));
  return box;
}

void drawReadout(QPainter& painter, const QRectF& box, const QString& text) {
  const Theme& theme = Theme::current();
  painter.setPen(hairline(theme.line));
  painter.setBrush(theme.cell);
  painter.drawRoundedRect(box, 5, 5);
  painter.setFont(boxFont());
  painter.setPen(theme.text);
  painter.drawText(box, Qt::AlignCenter, text);
}

void drawDots(QPainter& painter, const PlotGeometry& geometry, const SampleSeries::Point& point) {
  const Theme& theme = Theme::current();
  const auto dot = [&](double y, const QColor& color) {
    if (!std::isfinite(y)) return;
    painter.setPen(QPen(theme.panel, 1.5));
    painter.setBrush(color);
    painter.drawEllipse(QPointF(geometry.x(point.time), y), 3.5, 3.5);
  };
  dot(geometry.lossY(point.loss), theme.accent);
  dot(geometry.tokensY(point.tokensPerSecond), theme.dim);
}

}  // namespace tessera::ui
