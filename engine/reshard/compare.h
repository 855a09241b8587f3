// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Whether two checkpoints hold the same tensors, whatever their formats and cuts.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/checkpoint/checkpoint.h"
#include "engine/reshard/digests.h"
#include "ptc/base/result.h"

namespace tessera::reshard {

/// Elements [begin, end) that differ, by row-major index in the whole tensor; of tensors with
/// elements below one byte, bytes (ptc/packed.h).
struct DifferentRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::string a, b;  // the first of them, as FormatElement has it
};

/// Most ranges that are kept of a tensor.
inline constexpr std::size_t kMostRanges = 8;

struct TensorDifference {
  std::string name;
  /// As each has it; nullptr where it lacks the tensor.
  const checkpoint::StoredTensor* a = nullptr;
  const checkpoint::StoredTensor* b = nullptr;
  /// Elements (or bytes) whose bits differ. 0 where dtype or shape differ: nothing was read then.
  std::int64_t num_different = 0;
  std::vector<DifferentRange> ranges = {};  // the first kMostRanges, ascending, not adjacent
};

struct Comparison {
  std::int64_t num_tensors = 0;               // of both together
  std::int64_t bytes = 0;                     // that were compared
  std::vector<TensorDifference> differences;  // in byte order of the names; none: equal
};

/// Compares bit by bit (a NaN equals the same NaN, 0 is not -0). Results point into `a` and `b`.
/// \error as RunPieces and Checkpoint::Read
Result<Comparison> Compare(const checkpoint::Checkpoint& a, const checkpoint::Checkpoint& b,
                           const ReadOptions& options);

/// "0.5", "-3", "true", "nan", "1-2.5i": the shortest text that reads back as the same value (as a
/// float for the types of 8 and 16 bits); "0x3f" where the bits are all that is known of it.
/// \pre `bytes` has an element of that dtype
std::string FormatElement(ptc::DType dtype, const std::byte* bytes);

}  // namespace tessera::reshard
