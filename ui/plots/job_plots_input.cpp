// SPDX-License-Identifier: GPL-3.0-or-later
// Mouse and keyboard input of the plots.
#include <QKeyEvent>
#include <QMouseEvent>
#include <algorithm>
#include <utility>

#include "ui/plots/band_painter.h"
#include "ui/plots/job_plots_impl.h"
#include "ui/plots/mark_painter.h"
#include "ui/plots/playhead.h"

namespace tessera::ui {
namespace {

constexpr int kClick = 4;         // pixels that a click may move
constexpr double kZoom = 0.7;     // per key press
constexpr double kPan = 1.0 / 8;  // of the visible time, per key press

}  // namespace

bool JobPlots::Impl::grabs(QPointF position) const {
  return !samples.empty() && grabsPlayhead(canvas.geometry(), playhead, position);
}

void JobPlots::Impl::onMove(QMouseEvent* event) {
  const QPointF at = event->position();
  const PlotGeometry geometry = canvas.geometry();
  if (dragging) {
    pointer.reset();
    widget.setPlayhead(geometry.timeAt(at.x()));
    return;
  }
  pointer = geometry.labelled().contains(at.toPoint()) ? std::optional(at) : std::nullopt;
  const bool scrubs = !(event->buttons() & Qt::LeftButton) && grabs(at);
  canvas.widget()->setCursor(scrubs ? Qt::SizeHorCursor
                             : pointer && bandAt(bands, geometry, at) != nullptr
                                 ? Qt::PointingHandCursor
                                 : Qt::ArrowCursor);
  canvas.replotPointer();
}

void JobPlots::Impl::onPress(QMouseEvent* event) {
  pressed = event->pos();
  widget.setFocus(Qt::MouseFocusReason);
  dragging = event->button() == Qt::LeftButton && grabs(event->position());
  canvas.setPanning(!dragging);
  if (dragging) widget.setPlayhead(canvas.geometry().timeAt(event->position().x()));
}

void JobPlots::Impl::onRelease(QMouseEvent* event) {
  const bool dragged = std::exchange(dragging, false);
  canvas.setPanning(true);
  if (event->button() != Qt::LeftButton || dragged) return;
  if ((event->pos() - pressed).manhattanLength() > kClick) return;
  const QPointF at = event->position();
  const PlotGeometry geometry = canvas.geometry();
  if (const PlotBand* band = bandAt(bands, geometry, at)) {
    widget.setPlayhead(band->start);
    choose(*band);
  } else if (const PlotMark* mark = markAt(marks, geometry, at)) {
    widget.setPlayhead(mark->time);
  } else if (geometry.area().contains(at.toPoint())) {
    widget.setPlayhead(geometry.timeAt(at.x()));
  }
}

void JobPlots::Impl::choose(const PlotBand& band) {
  const std::int64_t txn = band.txn;  // a slot may replace the bands
  widget.setSelectedBand(txn);
  emit widget.bandChosen(txn);
}

void JobPlots::Impl::goTo(double time) {
  widget.setPlayhead(time);
  const PlotRange inSight = canvas.geometry().time;
  if (!playhead || inSight.contains(*playhead)) return;
  canvas.move({*playhead - inSight.size() / 2, *playhead + inSight.size() / 2});
}

void JobPlots::Impl::step(int direction, Qt::KeyboardModifiers modifiers) {
  const auto all = known().samples;
  if (modifiers & Qt::ControlModifier) {
    const PlotRange inSight = canvas.geometry().time;
    const double by = direction * kPan * inSight.size();
    return canvas.move({inSight.from + by, inSight.to + by});
  }
  if (!all) return;
  if (modifiers & Qt::ShiftModifier) return goTo(playhead.value_or(all->to) + direction);
  const std::vector<double> stops = playheadStops(bands, marks, *all);
  const double from = playhead.value_or(direction < 0 ? all->to + 1 : all->from - 1);
  if (direction < 0) {
    const auto stop = std::lower_bound(stops.begin(), stops.end(), from);
    if (stop == stops.begin()) return;
    goTo(*(stop - 1));
  } else {
    const auto stop = std::upper_bound(stops.begin(), stops.end(), from);
    if (stop == stops.end()) return;
    goTo(*stop);
  }
  const auto band = std::find_if(bands.begin(), bands.end(),
                                 [this](const PlotBand& each) { return each.start == playhead; });
  if (band != bands.end()) choose(*band);
}

void JobPlots::keyPressEvent(QKeyEvent* event) {
  Impl& impl = *m_impl;
  const PlotRange inSight = impl.canvas.geometry().time;
  const auto all = impl.known().samples;
  const auto zoom = [&](double factor) {
    const double half = inSight.size() * factor / 2;
    impl.canvas.move({inSight.center() - half, inSight.center() + half});
  };
  switch (event->key()) {
    case Qt::Key_Left:
      return impl.step(-1, event->modifiers());
    case Qt::Key_Right:
      return impl.step(1, event->modifiers());
    case Qt::Key_Plus:
    case Qt::Key_Equal:
      return zoom(kZoom);
    case Qt::Key_Minus:
      return zoom(1 / kZoom);
    case Qt::Key_0:
      return fit();
    case Qt::Key_Home:
      if (all) impl.goTo(all->from);
      return;
    case Qt::Key_End:
      if (all) setPlayhead(all->to);
      impl.view.followLast(inSight.size());
      impl.follow();
      impl.canvas.replot();
      return;
    case Qt::Key_Space:
      if (!event->isAutoRepeat()) emit playRequested();
      return;
    case Qt::Key_C:
      if (event->modifiers() != Qt::NoModifier || event->isAutoRepeat())
        return QWidget::keyPressEvent(event);
      emit compareRequested();
      return;
    case Qt::Key_Period:
      emit speedRequested(1);
      return;
    case Qt::Key_Comma:
      emit speedRequested(-1);
      return;
    default:
      QWidget::keyPressEvent(event);
  }
}

}  // namespace tessera::ui
