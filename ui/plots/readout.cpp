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
  const double wide = QFontMetricsF(boxFont()).horizontalAdvance(text) + 16;
  QRectF box(at + 8, top, std::min<double>(wide, area.right()), 22);
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
  const double room = box.width() - 15;
  painter.drawText(box, Qt::AlignCenter,
                   QFontMetricsF(boxFont()).elidedText(text, Qt::ElideRight, room));
}

void drawDots(QPainter& painter, const PlotGeometry& geometry, const DrawnSamples& samples,
              const SampleSeries::Point& point) {
  const Theme& theme = Theme::current();
  for (const PlotStrip& strip : geometry.strips) {
    const auto shown = samples.valueAt(strip.curve, point);
    if (!shown || !std::isfinite(shown->value)) continue;
    const double at = geometry.x(shown->time);
    if (at < strip.rect.left()) continue;
    painter.setPen(QPen(theme.panel, 1.5));
    painter.setBrush(strip.curve.kind == PlotCurve::Kind::Tokens ? theme.dim : theme.accent);
    painter.drawEllipse(QPointF(at, strip.y(shown->value)), 3.5, 3.5);
  }
}

}  // namespace tessera::ui
