// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Loss and tokens a second over one time axis, with reconfigurations as bands and events as marks.

#include <QByteArray>
#include <QWidget>
#include <memory>
#include <optional>
#include <vector>

#include "ui/plots/bands.h"
#include "ui/plots/sample_series.h"

namespace tessera::ui {

/// Wheel zooms at the pointer, dragging pans, a double click shows everything and follows. A view
/// whose right end reaches the newest sample follows it. A click sets the playhead, on a band it
/// chooses that as well; dragging the playhead, or anything in the strip of times, moves it.
///
/// Keys: left and right go to the previous and next event or band, with Shift by a second, with
/// Ctrl they pan; Home goes to the first sample, End to the newest and follows it; + and − zoom, 0
/// shows everything.
class JobPlots : public QWidget {
  Q_OBJECT

 public:
  explicit JobPlots(QWidget* parent = nullptr);
  ~JobPlots() override;

  /// Takes over what is new in `series`; gaps and pauses of bands stay empty.
  void setSeries(const SampleSeries& series);
  void setBands(std::vector<PlotBand> bands);
  void setMarks(std::vector<PlotMark> marks);
  /// The cluster's wall clock; nothing where it is not known.
  void setNow(std::optional<double> now);
  void setSelectedBand(std::optional<std::int64_t> txn);
  /// Dims what is drawn: it is from an earlier time.
  void setStale(bool stale);

  const std::vector<PlotBand>& bands() const;
  std::optional<std::int64_t> selectedBand() const;
  /// What is in sight, seconds since 1970.
  std::pair<double, double> range() const;
  void setRange(double from, double to);
  /// Shows everything and follows.
  void fit();
  /// The time that is looked at, nothing where none is; it is moved into the time of the samples.
  std::optional<double> playhead() const;
  void setPlayhead(std::optional<double> time);
  /// The event at the playhead, else what readout() says there.
  QString playheadText() const;
  bool isFollowing() const;
  /// What the readout says at this time: step, clock, loss, tokens a second; empty in a gap.
  QString readout(double time) const;
  /// Horizontal place of a time in this widget.
  double pixelOf(double time) const;
  /// Number of runs of samples without a gap, as drawn.
  int segments() const;
  /// Seconds that drawing everything anew takes now.
  double measureReplot();

  /// What is in sight, with the playhead and without the pointer, as files.
  QByteArray toPng(QSize size, double scale) const;
  QByteArray toSvg(QSize size) const;

  QSize sizeHint() const override { return {820, 150}; }
  QSize minimumSizeHint() const override { return {260, 84}; }

 signals:
  /// The user chose a band.
  void bandChosen(qint64 txn);
  void rangeChanged();
  void playheadChanged();

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  void changeEvent(QEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> m_impl;
};

}  // namespace tessera::ui
