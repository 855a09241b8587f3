// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Selects few samples of a curve so that a plot of them looks like a plot of all: the M4 selection
/// (Jugel, Jerzak, Hackenbroich, Markl: "M4: A Visualization-Oriented Time Series Data
/// Aggregation", VLDB 2014, section 4) of first, last, least and greatest in each bucket, for loss
/// and tokens/s.

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/cluster/snapshot.h"

namespace tessera::engine {

/// Takes samples one by one in ascending order of `x` and needs memory for the result only. From
/// each of the equal buckets of [from, to] it selects the first and the last sample, those of least
/// and greatest loss and rate, and the first whose loss is not finite.
class Decimator {
 public:
  /// Points of one bucket, and the least limit.
  static constexpr std::int64_t kPointsPerBucket = 7;

  /// \param max_points at least kPointsPerBucket; a smaller value counts as that
  Decimator(double from, double to, std::int64_t max_points);
  void Add(const Sample& sample, double x);
  /// The selected samples in the order of Add, at most `max_points`. Do not use this object after
  /// it.
  std::vector<Sample> Take();

 private:
  struct Chosen {
    Sample sample;
    std::int64_t order = 0;
  };
  enum Role { kFirst, kLast, kLeastLoss, kMostLoss, kLeastRate, kMostRate, kNotANumber, kNumRoles };
  static_assert(kNumRoles == kPointsPerBucket);

  void FinishBucket();

  double from_, width_;  // of a bucket
  std::int64_t num_buckets_, bucket_ = -1, added_ = 0;
  std::array<std::optional<Chosen>, kNumRoles> roles_;
  std::vector<Sample> taken_;
};

}  // namespace tessera::engine
