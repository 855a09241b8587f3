// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Compares the tensors of two checkpoints, whatever their formats and cuts.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/checkpoint/checkpoint.h"
#include "engine/reshard/digests.h"
#include "ptc/base/result.h"

namespace tessera::reshard {

/// A run of differing elements [begin, end), by row-major index in the whole tensor. For dtypes
/// whose elements are smaller than a byte, the indices count bytes (ptc/packed.h).
struct DifferentRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::string a, b;  // the first element of the run, formatted by FormatElement
};

/// The number of ranges that are kept for each tensor.
inline constexpr std::size_t kMostRanges = 8;

struct TensorDifference {
  std::string name;
  /// The tensor in each checkpoint; nullptr if that checkpoint lacks it.
  const checkpoint::StoredTensor* a = nullptr;
  const checkpoint::StoredTensor* b = nullptr;
  /// Elements (or bytes) whose bits differ. 0 if the dtypes or shapes differ: then no element was
  /// read.
  std::int64_t num_different = 0;
  std::vector<DifferentRange> ranges = {};  // the first kMostRanges, ascending, not adjacent
};

struct Comparison {
  std::int64_t num_tensors = 0;               // distinct names in both checkpoints together
  std::int64_t bytes = 0;                     // compared, of one checkpoint
  std::vector<TensorDifference> differences;  // in byte order of the names; empty: equal
};

/// Compares bit by bit: a NaN equals the same NaN, and 0 differs from -0. The result points into
/// `a` and `b`.
/// \error as RunPieces and Checkpoint::Read
Result<Comparison> Compare(const checkpoint::Checkpoint& a, const checkpoint::Checkpoint& b,
                           const ReadOptions& options);

/// Formats an element as the shortest text that reads back as the same value: "0.5", "-3", "true",
/// "nan", "1-2.5i". Floats of 8 and 16 bits are formatted as f32. Dtypes without arithmetic here
/// are shown by their bits: "0x3f".
/// \pre `bytes` has an element of that dtype
std::string FormatElement(ptc::DType dtype, const std::byte* bytes);

}  // namespace tessera::reshard
