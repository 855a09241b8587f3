// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The samples as drawn: lines that are interrupted where nothing was reported, where a change
/// paused the job, and where a value is not a number.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "ui/plots/bands.h"
#include "ui/plots/busy_series.h"
#include "ui/plots/plot_curve.h"
#include "ui/plots/plot_geometry.h"
#include "ui/plots/sample_series.h"

namespace tessera::ui {

class DrawnSamples {
 public:
  using Point = SampleSeries::Point;
  /// What changed in the lines: all from this point on.
  struct Change {
    bool any = false;
    std::size_t from = 0;
  };
  /// A value at a time. That of a gap is NaN.
  struct Value {
    double time = 0;
    double value = 0;
  };
  /// The extent of the visible values of a curve.
  struct Extent {
    std::ptrdiff_t values = 0;
    std::optional<PlotRange> range;  // nothing if no value is a number
  };

  /// Adds the new samples of `series`.
  Change setSeries(const SampleSeries& series);
  /// Sets the bands. Changed pauses change the gaps; a pause that still grows does not.
  Change setBands(const std::vector<PlotBand>& bands);

  bool empty() const { return m_points.empty(); }
  /// All points, ascending in time.
  const std::vector<Point>& points() const { return m_points; }
  /// The number of runs of samples without a gap.
  int segments() const { return m_segments; }
  /// The line of a curve from a point on, with one NaN per gap. A metric that the program reports
  /// with some of the steps only has no gaps between these.
  std::vector<Value> line(const PlotCurve& curve, std::size_t from) const;
  /// The value of a curve at a point; of a metric the last one up to it, unless a gap lies between.
  std::optional<Value> valueAt(const PlotCurve& curve, const Point& point) const;
  /// The line of what a GPU computes, with one NaN per gap of the samples.
  std::vector<Value> line(const std::vector<BusySeries::Value>& values) const;
  /// Whether a gap begins after the first time, up to the second.
  bool isBroken(double after, double until) const;
  /// Returns the point shown at this time: the next one, or the last one for up to a second after
  /// it. Null in a gap.
  const Point* at(double time) const;
  /// Returns the last point at or before this time; null in a gap, as at().
  const Point* before(double time) const;
  Extent extentOf(const PlotCurve& curve, const PlotRange& time) const;

 private:
  struct Pause {
    double start = 0, end = 0;
    bool isOver = false;
    friend bool operator==(const Pause&, const Pause&) = default;
  };

  /// Takes the points of `source` from `from` on; those before stay.
  Change append(const std::vector<Point>& source, std::size_t from);
  void takeMetrics(const SampleSeries& series, std::size_t from);
  bool isPaused(double after, double until);
  const SampleSeries::Metric* metricOf(const PlotCurve& curve) const;
  /// The value at a point; nothing if it is not known there.
  std::optional<double> valueOf(const PlotCurve& curve, const SampleSeries::Metric* metric,
                                std::size_t point) const;

  std::vector<Point> m_points;
  std::vector<bool> m_starts;  // whether a segment starts at the point
  std::vector<SampleSeries::Metric> m_metrics;
  std::vector<Pause> m_pauses;
  std::size_t m_nextPause = 0;  // pauses with a lower index end before the last appended point
  std::uint64_t m_revision = 0;
  std::uint64_t m_amendments = 0;
  int m_segments = 0;
};

}  // namespace tessera::ui
