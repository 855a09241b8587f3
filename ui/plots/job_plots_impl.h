// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The parts of JobPlots; for job_plots*.cpp only.

#include <QPainter>
#include <QPoint>
#include <optional>
#include <vector>

#include "ui/plots/drawn_samples.h"
#include "ui/plots/job_plots.h"
#include "ui/plots/plot_canvas.h"
#include "ui/plots/time_view.h"

class QMouseEvent;

namespace tessera::ui {

struct JobPlots::Impl {
  explicit Impl(JobPlots& w) : widget(w), canvas(&w) {}

  // job_plots.cpp
  void build();
  void style() { canvas.setStyle(stale, dense); }
  void take(const DrawnSamples::Change& change);
  void nameCurves();
  /// Draws what GPUs compute, with the gaps of the samples.
  void drawComputing();
  /// What a GPU computes at a point; nothing if it was not seen then.
  std::optional<double> computingAt(const Computing& line, const SampleSeries::Point& point) const;
  TimeView::Known known() const;
  /// Shows the newest samples if the view follows them.
  void follow();
  void show(const PlotRange& range);
  /// Fits the value axes to the visible values; tokens start at zero. Few values get dots.
  void fitValues();
  void userMoved();

  // job_plots_input.cpp
  void onMove(QMouseEvent* event);
  void onPress(QMouseEvent* event);
  void onRelease(QMouseEvent* event);
  bool grabs(QPointF position) const;
  void choose(const PlotBand& band);
  /// Sets the playhead; moves the view only if the time is not visible.
  void goTo(double time);
  void step(int direction, Qt::KeyboardModifiers modifiers);

  // job_plots_painting.cpp
  void addPaintings();
  void paintOverlay(QPainter& painter);
  void paintKey(QPainter& painter, const PlotStrip& strip);
  void paintPlayhead(QPainter& painter);
  void paintPointer(QPainter& painter);

  // job_plots_text.cpp
  /// "step 460 · 14:02:31 · loss 2.3495 · 3.8 k tokens/s", with `first` before the other curves;
  /// empty without a point.
  QString textOf(const SampleSeries::Point* point, const PlotCurve* first = nullptr) const;
  QString textOf(const PlotCurve& curve, const SampleSeries::Point& point) const;
  /// Why what GPUs compute is not said at a point; empty if it is.
  QString computingHint(const SampleSeries::Point& point) const;
  QString textAt(QPointF position) const;
  /// Sets the description for screen readers.
  void describe();

  JobPlots& widget;
  PlotCanvas canvas;
  DrawnSamples samples;
  std::vector<PlotCurve> curves = usualCurves();
  TimeView view;
  std::vector<Computing> computing;
  std::vector<PlotBand> bands;
  std::vector<PlotMark> marks;
  std::optional<double> now, drawnNow;
  std::optional<std::int64_t> selected;
  std::optional<double> playhead;
  std::optional<double> pinned;
  std::optional<QPointF> pointer;  // over the plots
  QPoint pressed;
  bool dragging = false;  // the playhead
  bool stale = false;
  bool dense = false;      // many samples per pixel are visible
  bool exporting = false;  // omits the pointer and the focus
};

}  // namespace tessera::ui
