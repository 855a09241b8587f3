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
  TimeView::Known known() const;
  /// Shows what the view follows, if it does.
  void follow();
  void show(const PlotRange& range);
  /// The values in sight fill the height; tokens start at zero.
  void fitValues();
  void userMoved();

  // job_plots_input.cpp
  void onMove(QMouseEvent* event);
  void onPress(QMouseEvent* event);
  void onRelease(QMouseEvent* event);
  bool grabs(QPointF position) const;
  void choose(const PlotBand& band);
  /// Moves the view only where the time is out of sight.
  void goTo(double time);
  void step(int direction, Qt::KeyboardModifiers modifiers);

  // job_plots_painting.cpp
  void addPaintings();
  void paintOverlay(QPainter& painter);
  void paintPlayhead(QPainter& painter);
  void paintPointer(QPainter& painter);
  void paintDots(QPainter& painter, const PlotGeometry& geometry, double time);

  // job_plots_text.cpp
  QString textAt(QPointF position) const;
  /// Screen readers hear what the eye sees last.
  void describe();

  JobPlots& widget;
  PlotCanvas canvas;
  DrawnSamples samples;
  TimeView view;
  std::vector<PlotBand> bands;
  std::vector<PlotMark> marks;
  std::optional<double> now;
  std::optional<std::int64_t> selected;
  std::optional<double> playhead;
  std::optional<QPointF> pointer;  // over the plots
  QPoint pressed;
  bool dragging = false;  // the playhead
  bool stale = false;
  bool dense = false;      // many samples a pixel are in sight
  bool exporting = false;  // without what belongs to the screen alone
};

}  // namespace tessera::ui
