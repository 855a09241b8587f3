// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The data position of a job: which samples the next global batch has, whatever the mesh.

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "ptc/base/result.h"

namespace tessera::engine {

/// The tensor in which built-in jobs keep the cursor.
inline constexpr std::string_view kCursorTensor = "job.cursor";

/// The position of a job in its data. Pass p visits the samples in the order of a permutation keyed
/// by (seed, p). The next global batch begins at position `next` of pass `pass`.
struct Cursor {
  std::int64_t seed = 0;
  std::int64_t pass = 0;
  std::int64_t next = 0;

  /// The words of the tensor job.cursor.
  std::array<std::int64_t, 3> ToArray() const { return {seed, pass, next}; }
  static Cursor FromArray(const std::array<std::int64_t, 3>& words) {
    return {words[0], words[1], words[2]};
  }
  friend bool operator==(const Cursor&, const Cursor&) = default;
};

/// Returns the cursor `count` samples later in a data set of `num_samples`.
/// \pre count >= 0, num_samples >= 1, cursor.next >= 0
Cursor Advance(const Cursor& cursor, std::int64_t count, std::int64_t num_samples);

/// Positions [begin, end) of a global batch, counted from 0.
struct BatchShare {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  constexpr std::int64_t size() const { return end - begin; }
  friend bool operator==(const BatchShare&, const BatchShare&) = default;
};

/// Returns what data-parallel rank `rank` of `ranks` reads of every global batch of `batch`
/// samples. Shares are runs in rank order; the first batch mod ranks of them have one sample more,
/// so 128 samples on 3 ranks are 43, 43 and 42. Trainer, cost model, file tree and own jobs all use
/// this rule. No share is larger than that of rank 0.
/// \pre 0 <= rank < ranks, batch >= 0
constexpr BatchShare ShareOfBatch(std::int64_t batch, std::int64_t rank, std::int64_t ranks) {
  const std::int64_t less = batch / ranks, longer = batch % ranks;
  const std::int64_t begin = rank * less + (rank < longer ? rank : longer);
  return {begin, begin + less + (rank < longer ? 1 : 0)};
}

/// Returns the samples at positions [begin, end) after the cursor, across passes if need be.
/// \error kInvalidArgument if num_samples is outside the limits of Permutation, or the cursor or
///     the range is negative
Result<std::vector<std::int64_t>> SamplesAt(const Cursor& cursor, std::int64_t begin,
                                            std::int64_t end, std::int64_t num_samples);

}  // namespace tessera::engine
