// SPDX-License-Identifier: GPL-3.0-or-later
// Overlays of the lines: axis titles, the clock of the cluster, playhead and pointer.
#include <QFontMetricsF>
#include <cmath>

#include "ui/plots/band_painter.h"
#include "ui/plots/job_plots_impl.h"
#include "ui/plots/mark_painter.h"
#include "ui/plots/playhead.h"
#include "ui/plots/readout.h"
#include "ui/theme.h"

namespace tessera::ui {
namespace {

/// Aligns a hairline to a pixel centre.
double sharp(double x) { return std::round(x) + 0.5; }

void drawUpright(QPainter& painter, double at, const QRect& area) {
  painter.drawLine(QPointF(at, area.top()), QPointF(at, area.bottom()));
}

void drawAxes(QPainter& painter, const PlotGeometry& geometry) {
  const Theme& theme = Theme::current();
  const QFont font = uiFont(11.5);
  const double ascent = QFontMetricsF(font).ascent();
  const auto draw = [&](const QRect& rect, const QString& word) {
    painter.setFont(font);
    painter.setPen(theme.dim);
    painter.drawText(QPointF(PlotGeometry::kLabelColumn, rect.top() + ascent - 3), word);
    painter.setPen(hairline(theme.line));
    const QRect area = geometry.area();
    painter.drawLine(QPointF(area.left(), rect.bottom() + 0.5),
                     QPointF(area.right(), rect.bottom() + 0.5));
  };
  draw(geometry.loss, JobPlots::tr("loss"));
  draw(geometry.tokens, JobPlots::tr("tokens/s"));
}

void drawNow(QPainter& painter, const PlotGeometry& geometry, double now) {
  const Theme& theme = Theme::current();
  QPen pen(blend(theme.accent, theme.panel, 0.7), 1, Qt::CustomDashLine, Qt::FlatCap);
  pen.setDashPattern({2, 3});
  painter.save();
  painter.setClipRect(geometry.clip());
  painter.setPen(pen);
  drawUpright(painter, sharp(geometry.x(now)), geometry.area());
  painter.restore();
}

}  // namespace

void JobPlots::Impl::addPaintings() {
  using Layer = PlotCanvas::Layer;
  canvas.addPainting(Layer::Bands, [this](QPainter& painter) {
    drawBands(painter, canvas.geometry(), bands, selected);
  });
  canvas.addPainting(Layer::Overlay, [this](QPainter& painter) { paintOverlay(painter); });
  canvas.addPainting(Layer::Pointer, [this](QPainter& painter) { paintPlayhead(painter); });
  canvas.addPainting(Layer::Pointer, [this](QPainter& painter) { paintPointer(painter); });
}

void JobPlots::Impl::paintOverlay(QPainter& painter) {
  const PlotGeometry geometry = canvas.geometry();
  drawAxes(painter, geometry);
  const bool moving = !bands.empty() && bands.back().outcome == PlotBand::Outcome::Running;
  if (now && !stale && !moving) drawNow(painter, geometry, *now);
  drawMarks(painter, geometry, marks);
  if (!widget.hasFocus() || exporting) return;
  painter.setPen(QPen(Theme::current().accent, 1));
  painter.setBrush(Qt::NoBrush);
  const QRectF whole(canvas.widget()->rect());
  painter.drawRoundedRect(whole.adjusted(1.5, 0.5, -1.5, -0.5), 5, 5);
}

void JobPlots::Impl::paintPlayhead(QPainter& painter) {
  if (!playhead) return;
  const PlotGeometry geometry = canvas.geometry();
  const QRect area = geometry.area();
  const double at = sharp(geometry.x(*playhead));
  if (at < area.left() - 1 || at > area.right() + 1) return;
  drawPlayhead(painter, geometry, *playhead);
  if (const auto* point = samples.before(*playhead)) drawDots(painter, geometry, *point);
  const QString text = widget.playheadText();
  drawReadout(painter, readoutBox(geometry, text, at, area.top() + 2), text);
}

void JobPlots::Impl::paintPointer(QPainter& painter) {
  if (!pointer || exporting) return;
  const PlotGeometry geometry = canvas.geometry();
  const QRect area = geometry.area();
  const double at = sharp(pointer->x());
  painter.setPen(hairline(Theme::current().faint));
  drawUpright(painter, at, area);
  const double time = geometry.timeAt(pointer->x());
  const SampleSeries::Point* point = samples.at(time);
  if (point != nullptr && point->time >= time) drawDots(painter, geometry, *point);
  const QString text = textAt(*pointer);
  QRectF box = readoutBox(geometry, text, at, pointer->y() - 30);
  // Keep the readout of the playhead readable.
  if (playhead && geometry.time.contains(*playhead)) {
    const QRectF fixed =
        readoutBox(geometry, widget.playheadText(), sharp(geometry.x(*playhead)), area.top() + 2);
    if (box.intersects(fixed)) box.moveTop(fixed.bottom() + 4);
  }
  drawReadout(painter, box, text);
}

}  // namespace tessera::ui
