// SPDX-License-Identifier: GPL-3.0-or-later
// Overlays of the lines: axis titles, the clock of the cluster, playhead and pointer.
#include <QFontMetricsF>
#include <cmath>

#include "ui/format.h"
#include "ui/plots/band_painter.h"
#include "ui/plots/job_plots_impl.h"
#include "ui/plots/mark_painter.h"
#include "ui/plots/playhead.h"
#include "ui/plots/readout.h"
#include "ui/theme.h"

namespace tessera::ui {
namespace {

constexpr double kTitleEnd = 68;   // the numbers of the axis begin here
constexpr double kTitleInset = 6;  // of a longer title, which stands in its plot

/// Aligns a hairline to a pixel centre.
double sharp(double x) { return std::round(x) + 0.5; }

void drawUpright(QPainter& painter, double at, const QRect& area) {
  painter.drawLine(QPointF(at, area.top()), QPointF(at, area.bottom()));
}

void drawAxes(QPainter& painter, const PlotGeometry& geometry) {
  const Theme& theme = Theme::current();
  const QFont font = uiFont(11.5);
  const QFontMetricsF metrics(font);
  const double ascent = metrics.ascent();
  const QRect area = geometry.area();
  for (const PlotStrip& strip : geometry.strips) {
    const QString title = strip.curve.title();
    const double baseline = strip.rect.top() + ascent - 3;
    painter.setFont(font);
    painter.setPen(theme.dim);
    const double end = PlotGeometry::kLabelColumn + metrics.horizontalAdvance(title);
    if (strip.curve.isUsual() || end < kTitleEnd) {
      painter.drawText(QPointF(PlotGeometry::kLabelColumn, baseline), title);
    } else {
      // Over the line: the column of numbers is too narrow.
      const QString words =
          metrics.elidedText(title, Qt::ElideMiddle, strip.rect.width() - 2 * kTitleInset);
      const QPointF at(strip.rect.left() + kTitleInset, baseline + 3);
      const QRectF box = metrics.boundingRect(words).translated(at).adjusted(-3, -1, 3, 1);
      QColor backdrop = theme.panel;
      backdrop.setAlphaF(0.8F);
      painter.fillRect(box, backdrop);
      painter.drawText(at, words);
    }
    painter.setPen(hairline(theme.line));
    painter.drawLine(QPointF(area.left(), strip.rect.bottom() + 0.5),
                     QPointF(area.right(), strip.rect.bottom() + 0.5));
  }
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

void drawPinned(QPainter& painter, const PlotGeometry& geometry, double time) {
  const Theme& theme = Theme::current();
  const QRect area = geometry.area();
  const double at = sharp(geometry.x(time));
  QPen pen(theme.text, 1, Qt::CustomDashLine, Qt::FlatCap);
  pen.setDashPattern({5, 3});
  painter.setPen(pen);
  drawUpright(painter, at, area);
  const QFont font = uiFont(11, QFont::DemiBold);
  const QString letter = JobPlots::tr("A", "the first of two moments");
  const QRectF box(at + 1, area.top(), QFontMetricsF(font).horizontalAdvance(letter) + 8, 15);
  painter.fillRect(box, theme.panel);
  painter.setFont(font);
  painter.setPen(theme.text);
  painter.drawText(box, Qt::AlignCenter, letter);
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

// "— n0g0  — n0g1", from the right.
void JobPlots::Impl::paintKey(QPainter& painter, const PlotStrip& strip) {
  constexpr double kStroke = 14, kSpace = 10;
  const Theme& theme = Theme::current();
  const QFont font = uiFont(10.5);
  const QFontMetricsF metrics(font);
  double right = strip.rect.right() - 2;
  const double y = strip.rect.top() + metrics.ascent();
  for (std::size_t i = computing.size(); i-- > 0;) {
    const QString name = format::device(computing[i].device);
    const double left = right - metrics.horizontalAdvance(name) - kStroke - 4;
    if (left < strip.rect.center().x()) return;  // the title is there
    QColor backdrop = theme.panel;
    backdrop.setAlphaF(0.8F);
    painter.fillRect(QRectF(left - 3, strip.rect.top(), right - left + 6, metrics.height()),
                     backdrop);
    painter.setPen(furtherPen(i));
    painter.drawLine(QPointF(left, y - 4), QPointF(left + kStroke, y - 4));
    painter.setFont(font);
    painter.setPen(theme.dim);
    painter.drawText(QPointF(left + kStroke + 4, y), name);
    right = left - kSpace;
  }
}

void JobPlots::Impl::paintOverlay(QPainter& painter) {
  const PlotGeometry geometry = canvas.geometry();
  drawAxes(painter, geometry);
  const bool moving = !bands.empty() && bands.back().outcome == PlotBand::Outcome::Running;
  if (now && !stale && !moving) drawNow(painter, geometry, *now);
  if (pinned && geometry.time.contains(*pinned)) drawPinned(painter, geometry, *pinned);
  drawMarks(painter, geometry, marks);
  for (const PlotStrip& strip : geometry.strips) {
    if (strip.curve.kind == PlotCurve::Kind::StepTime) paintKey(painter, strip);
  }
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
  if (const auto* point = samples.before(*playhead)) drawDots(painter, geometry, samples, *point);
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
  if (point != nullptr && point->time >= time) drawDots(painter, geometry, samples, *point);
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
