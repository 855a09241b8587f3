// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Numbers of the samples over one time axis, each with an axis of its own, with changes as bands
/// and events as marks. Loss and tokens per second, unless others are chosen.

#include <QByteArray>
#include <QWidget>
#include <memory>
#include <optional>
#include <vector>

#include "ui/plots/bands.h"
#include "ui/plots/busy_series.h"
#include "ui/plots/plot_curve.h"
#include "ui/plots/sample_series.h"

class QPaintDevice;

namespace tessera::ui {

/// The wheel zooms at the pointer, dragging pans, a double click shows everything and follows. A
/// view that ends at the newest sample follows it. A click sets the playhead and selects the band
/// below it. Dragging the playhead, or in the strip of times, moves the playhead.
///
/// Keys: left and right go to the previous and next event or band, with Shift by a second, with
/// Ctrl they pan; Home goes to the first sample, End to the newest and follows it; + and − zoom, 0
/// shows everything; Space requests to play or pause, period and comma to play faster or slower, C
/// to compare with the playhead.
class JobPlots : public QWidget {
  Q_OBJECT

 public:
  /// What the rank on a GPU computes in a step.
  struct Computing {
    ptc::DeviceId device;
    std::vector<BusySeries::Value> values = {};
  };

  explicit JobPlots(QWidget* parent = nullptr);
  ~JobPlots() override;

  /// Adds the new samples of `series`. Gaps and pauses of bands stay empty.
  void setSeries(const SampleSeries& series);
  /// Draws these curves, from above.
  /// \pre curves is not empty
  void setCurves(std::vector<PlotCurve> curves);
  const std::vector<PlotCurve>& curves() const;
  /// Draws these lines in the plot of the step time, the first kMostFurtherLines of them.
  void setComputing(std::vector<Computing> lines);
  const std::vector<Computing>& computing() const;
  void setBands(std::vector<PlotBand> bands);
  void setMarks(std::vector<PlotMark> marks);
  /// Sets the wall clock of the cluster; nothing if unknown.
  void setNow(std::optional<double> now);
  void setSelectedBand(std::optional<std::int64_t> txn);
  /// Dims the plots, because their data are old.
  void setStale(bool stale);

  const std::vector<PlotBand>& bands() const;
  std::optional<std::int64_t> selectedBand() const;
  /// The visible time in seconds since 1970.
  std::pair<double, double> range() const;
  void setRange(double from, double to);
  /// Shows everything and follows.
  void fit();
  /// The time of the playhead, clamped to the samples; nothing if there is none.
  std::optional<double> playhead() const;
  void setPlayhead(std::optional<double> time);
  /// Sets the playhead; moves the view only if the time is not visible.
  void goTo(double time);
  /// Marks another time, with which the playhead is compared; nothing: none.
  void setPinned(std::optional<double> time);
  /// Goes to the next (1) or previous (-1) event or band; selects a band.
  void goToStop(int direction);
  /// The last sample at or before the playhead, and the event at it.
  QString playheadText() const;
  bool isFollowing() const;
  /// The readout at this time: step, clock, and the value of each curve; empty in a gap.
  QString readout(double time) const;
  /// The horizontal position of a time in this widget.
  double pixelOf(double time) const;
  /// The number of runs of samples without a gap.
  int segments() const;
  /// Repaints everything and returns the seconds it took.
  double measureReplot();

  /// The visible plots as files, with the playhead and without the pointer.
  QByteArray toPng(QSize size, double scale) const;
  QByteArray toSvg(QSize size) const;
  /// Draws lines and text, not pixels.
  void drawTo(QPaintDevice* device, QSize size) const;

  QSize sizeHint() const override;
  /// So high that each of more than two plots can be read.
  QSize minimumSizeHint() const override;

 signals:
  /// The user selected a band.
  void bandChosen(qint64 txn);
  void rangeChanged();
  void playheadChanged();
  void playRequested();
  void compareRequested();
  /// 1: faster, -1: slower.
  void speedRequested(int direction);

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  void changeEvent(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> m_impl;
};

}  // namespace tessera::ui
