// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The samples as the plots draw them: their lines, broken where nothing was reported, where a
/// reconfiguration stopped the job, and where a value is not a number.

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
  /// What the lines have to show anew.
  struct Change {
    bool any = false;
    bool restarts = false;     // all that was drawn before goes
    std::vector<Point> added;  // with a point of NaN in every gap
  };
  /// Of what is in sight.
  struct Extent {
    std::ptrdiff_t points = 0;
    std::optional<PlotRange> loss;  // nothing where no loss is a number
    double fastest = 0;             // tokens a second
  };

  /// Takes over what is new in `series`.
  Change setSeries(const SampleSeries& series);
  /// Bands with other pauses than before have other gaps; one that still grows moves none.
  Change setBands(const std::vector<PlotBand>& bands);

  bool empty() const { return m_points.empty(); }
  /// Ascending in time, as they were given.
  const std::vector<Point>& points() const { return m_points; }
  /// Number of runs of samples without a gap.
  int segments() const { return m_segments; }
  /// The point that stands for this time: the next one, or the last one up to a second after it.
  /// Null in a gap.
  const Point* at(double time) const;
  Extent extentIn(const PlotRange& time) const;

 private:
  struct Pause {
    double start = 0, end = 0;
    bool isOver = false;
    friend bool operator==(const Pause&, const Pause&) = default;
  };

  Change restart(const std::vector<Point>& source);
  /// Takes `source` over from its point `from` on.
  std::vector<Point> append(const std::vector<Point>& source, std::size_t from);
  bool isPaused(double after, double until);

  std::vector<Point> m_points;
  std::vector<Pause> m_pauses;
  std::size_t m_nextPause = 0;  // of append(): pauses before it lie before its last point
  std::uint64_t m_revision = 0;
  int m_segments = 0;
};

}  // namespace tessera::ui
