// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// A job's samples over time, in bounded memory, with the gaps where there were none.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/cluster/snapshot.h"

namespace tessera::ui {

/// Ascending in time and in step. Beyond its capacity the older half is thinned: neighbours become
/// their mean, never across a gap, so that the newest part keeps every sample.
class SampleSeries {
 public:
  struct Point {
    double time = 0;  // wall clock, seconds since 1970
    std::int64_t step = 0;
    double loss = 0;
    double tokensPerSecond = 0;
    bool afterGap = false;  // nothing was reported for long before this point
    friend bool operator==(const Point&, const Point&) = default;
  };
  static constexpr std::size_t kCapacity = 100'000;
  /// A wait of more than this many usual intervals between two samples is a gap.
  static constexpr double kGapIntervals = 4;

  /// \pre capacity >= 16
  explicit SampleSeries(std::size_t capacity = kCapacity) : m_capacity(capacity) {}

  void clear();
  /// A sample that is not newer than the last one is known already and ignored. A newer one of an
  /// older step is the new course of a job that went back: it replaces the old one from there on.
  /// \return whether anything changed
  bool add(const engine::Sample& sample);

  const std::vector<Point>& points() const { return m_points; }
  /// The point nearest in time; null without points. O(log n).
  const Point* nearest(double time) const;
  /// Grows when points changed that were there before; adding at the end leaves it.
  std::uint64_t revision() const { return m_revision; }

 private:
  void thin();

  std::size_t m_capacity;
  std::vector<Point> m_points;
  double m_interval = 0;  // usual seconds between samples; 0 before two of them
  std::uint64_t m_revision = 0;
};

}  // namespace tessera::ui
