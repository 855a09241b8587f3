// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The data position of a job: which samples the coming global batch holds, whatever the mesh.

#include <array>
#include <cstdint>
#include <vector>

#include "ptc/base/result.h"

namespace tessera::engine {

/// Where the job stands in its data. Pass p visits the samples in the order of a permutation keyed
/// by (seed, p); the next global batch begins at position `next` of pass `pass`.
struct Cursor {
  std::int64_t seed = 0;
  std::int64_t pass = 0;
  std::int64_t next = 0;

  /// As the tensor job.cursor holds it.
  std::array<std::int64_t, 3> ToArray() const { return {seed, pass, next}; }
  static Cursor FromArray(const std::array<std::int64_t, 3>& words) {
    return {words[0], words[1], words[2]};
  }
  friend bool operator==(const Cursor&, const Cursor&) = default;
};

/// The cursor `count` samples later in a data set of `num_samples`.
/// \pre count >= 0, num_samples >= 1, cursor.next >= 0
Cursor Advance(const Cursor& cursor, std::int64_t count, std::int64_t num_samples);

/// Samples at positions [begin, end) after the cursor, across passes if need be. Data-parallel rank
/// r of d takes [r * B / d, (r + 1) * B / d) of each global batch of B.
/// \error kInvalidArgument if num_samples is outside the limits of Permutation, or the cursor or
///     the range is negative.
Result<std::vector<std::int64_t>> SamplesAt(const Cursor& cursor, std::int64_t begin,
                                            std::int64_t end, std::int64_t num_samples);

}  // namespace tessera::engine
