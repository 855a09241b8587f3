// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// A job's samples over time with their gaps, in bounded memory.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/cluster/snapshot.h"

namespace tessera::ui {

/// Samples ascend in time and in step. Beyond the capacity the older half is thinned: pairs of
/// neighbours become their mean, never across a gap. The newer half keeps every sample.
class SampleSeries {
 public:
  struct Point {
    double time = 0;  // wall clock, seconds since 1970
    std::int64_t step = 0;
    double loss = 0;
    double tokensPerSecond = 0;
    bool afterGap = false;  // there is a gap before this point
    friend bool operator==(const Point&, const Point&) = default;
  };
  static constexpr std::size_t kCapacity = 100'000;
  /// More than this number of usual intervals between two samples is a gap.
  static constexpr double kGapIntervals = 4;

  /// \pre capacity >= 16
  explicit SampleSeries(std::size_t capacity = kCapacity) : m_capacity(capacity) {}

  void clear();
  /// Adds a sample. One that is not newer than the last sample is ignored. A newer one with an
  /// older step means that the job returned to that step: it replaces the samples from that step
  /// on.
  /// \return whether anything changed
  bool add(const engine::Sample& sample);

  const std::vector<Point>& points() const { return m_points; }
  /// Returns the point nearest in time; null if there are no points. O(log n).
  const Point* nearest(double time) const;
  /// Returns the last point at or before this time; null if there is none. O(log n).
  const Point* lastBefore(double time) const;
  /// Increments when existing points change. Appending does not change it.
  std::uint64_t revision() const { return m_revision; }

 private:
  void thin();

  std::size_t m_capacity;
  std::vector<Point> m_points;
  double m_interval = 0;  // usual seconds between samples; 0 before two of them
  std::uint64_t m_revision = 0;
};

}  // namespace tessera::ui
