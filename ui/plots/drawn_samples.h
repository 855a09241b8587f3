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
#include "ui/plots/plot_geometry.h"
#include "ui/plots/sample_series.h"

namespace tessera::ui {

class DrawnSamples {
 public:
  using Point = SampleSeries::Point;
  /// What changed in the lines.
  struct Change {
    bool any = false;
    bool restarts = false;     // clear the lines first
    std::vector<Point> added;  // with one NaN point per gap
  };
  /// The extent of the visible values.
  struct Extent {
    std::ptrdiff_t points = 0;
    std::optional<PlotRange> loss;  // nothing if no loss is a number
    double fastest = 0;             // tokens per second
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
  /// Returns the point shown at this time: the next one, or the last one for up to a second after
  /// it. Null in a gap.
  const Point* at(double time) const;
  /// Returns the last point at or before this time; null in a gap, as at().
  const Point* before(double time) const;
  Extent extentIn(const PlotRange& time) const;

 private:
  struct Pause {
    double start = 0, end = 0;
    bool isOver = false;
    friend bool operator==(const Pause&, const Pause&) = default;
  };

  Change restart(const std::vector<Point>& source);
  /// Appends `source` from its point `from` on.
  std::vector<Point> append(const std::vector<Point>& source, std::size_t from);
  bool isPaused(double after, double until);

  std::vector<Point> m_points;
  std::vector<Pause> m_pauses;
  std::size_t m_nextPause = 0;  // pauses with a lower index end before the last appended point
  std::uint64_t m_revision = 0;
  int m_segments = 0;
};

}  // namespace tessera::ui
