// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// A job's samples over time with their gaps, in bounded memory.

#include <cstddef>
#include <cstdint>
#include <string>
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
    double gradNorm = 0;
    double stepSeconds = 0;  // of each step since the point before; 0: not known
    friend bool operator==(const Point&, const Point&) = default;
  };
  /// A number that the program of the job has reported, one value for each point.
  struct Metric {
    std::string name;
    std::vector<double> values;
    std::vector<bool> logged;  // false: the program has not reported it with this step
  };
  static constexpr std::size_t kCapacity = 100'000;
  /// Names of a job that was started again may differ from those before. Further names are ignored.
  static constexpr std::size_t kMaxNames = 4 * engine::kMaxMetrics;
  /// More than this number of usual intervals between two samples is a gap.
  static constexpr double kGapIntervals = 4;

  /// \pre capacity >= 16
  explicit SampleSeries(std::size_t capacity = kCapacity) : m_capacity(capacity) {}

  void clear();
  /// Adds a sample. One that is not newer than the last sample is ignored, but the last sample
  /// again adds its metrics, because some arrive after their step. A newer one with an older step
  /// means that the job returned to that step: it replaces the samples from that step on.
  /// \return whether anything changed
  bool add(const engine::Sample& sample);

  const std::vector<Point>& points() const { return m_points; }
  /// By name.
  const std::vector<Metric>& metrics() const { return m_metrics; }
  /// The last value of each metric up to this point, which belongs to the series.
  engine::Metrics metricsAt(const Point& point) const;
  /// A point as a sample of `job`, with the metrics of its step.
  engine::Sample sampleOf(const std::string& job, std::size_t point) const;
  /// Returns the point nearest in time; null if there are no points. O(log n).
  const Point* nearest(double time) const;
  /// Returns the last point at or before this time; null if there is none. O(log n).
  const Point* lastBefore(double time) const;
  /// Increments when existing points change. Appending does not change it, nor do metrics that
  /// arrive late.
  std::uint64_t revision() const { return m_revision; }
  /// Increments when the last point gets a metric late.
  std::uint64_t amendments() const { return m_amendments; }

 private:
  void thin();
  /// Sets the metrics of the last point.
  /// \return whether one of them differs now
  bool setMetrics(const engine::Metrics& metrics);
  Metric* metricNamed(const std::string& name);

  std::size_t m_capacity;
  std::vector<Point> m_points;
  std::vector<Metric> m_metrics;
  double m_interval = 0;  // usual seconds between samples; 0 before two of them
  std::uint64_t m_revision = 0;
  std::uint64_t m_amendments = 0;
};

}  // namespace tessera::ui
