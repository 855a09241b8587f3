// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A curve of many samples by few of them, so that it looks the same: the M4 selection (Jugel,
/// Jerzak, Hackenbroich, Markl: "M4: A Visualization-Oriented Time Series Data Aggregation",
/// VLDB 2014, section 4) of first, last, least and greatest of each bucket, for loss and tokens/s.

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/cluster/snapshot.h"

namespace tessera::engine {

/// Takes samples one by one in ascending order of `x`, in memory of the size of the result.
/// What comes out are samples that went in: of each of equal buckets of [from, to] the first, the
/// last, those of least and greatest loss and rate, and the first whose loss is not a number.
class Decimator {
 public:
  /// The fewest points that a caller can ask for: one bucket.
  static constexpr std::int64_t kPointsPerBucket = 7;

  /// \param max_points clamped to kPointsPerBucket from below
  Decimator(double from, double to, std::int64_t max_points);
  void Add(const Sample& sample, double x);
  /// The chosen ones in the order of Add, at most `max_points`. Ends the use of this object.
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
