// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// What the rank on each GPU of a job computes in a step, as it was seen over time, in bounded
/// memory. The history does not have it.

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "engine/cluster/snapshot.h"
#include "ui/plots/sample_series.h"

namespace tessera::ui {

/// Times and steps ascend, and are those of samples. Beyond the capacity the older half is thinned:
/// neighbours become their mean, never across a gap, and first those that stand for fewest samples.
/// So the older half has about the same resolution everywhere.
class BusySeries {
 public:
  /// At one time; NaN where it is not known.
  struct Value {
    double time = 0;
    double seconds = 0;
  };
  /// Of one GPU. A job of many GPUs gets fewer, so that all together are at most kMostValues.
  static constexpr std::size_t kCapacity = 4096, kLeastCapacity = 64;
  static constexpr std::size_t kMostValues = std::size_t{1} << 21;

  void clear();
  /// Adds the computing times that `cluster` has for the devices of `job`, at a sample of the job.
  /// Ignores a sample that is not newer than the last one. A sample with an older step replaces
  /// what is known from that step on, as in SampleSeries.
  /// \return whether anything changed
  bool add(const SampleSeries::Point& sample, const engine::ClusterSnapshot& cluster,
           const std::string& job);

  /// The number of times.
  std::size_t size() const { return m_times.size(); }
  /// What the device computes at each time; empty if nothing was ever seen of it.
  std::vector<Value> of(ptc::DeviceId device) const;

 private:
  void thin();
  /// Merges neighbours of the older half that together stand for at most so many samples.
  /// \return the number of points that are gone
  std::size_t merge(std::int64_t most);
  void drop(std::size_t from, std::size_t to);
  std::size_t capacity() const;

  std::vector<double> m_times;
  std::vector<std::int64_t> m_steps;
  std::vector<bool> m_afterGap;
  std::vector<std::int64_t> m_counts;                     // of samples that a point stands for
  std::map<ptc::DeviceId, std::vector<float>> m_seconds;  // one for each time
};

}  // namespace tessera::ui
