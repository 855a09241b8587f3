// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// All that is decided before the first byte: tensors, files, headers and tiles. Two processes with
/// equal inputs decide the same.

#include <cstdint>
#include <string>
#include <vector>

#include "engine/checkpoint/checkpoint.h"
#include "engine/reshard/arrangement.h"
#include "engine/reshard/options.h"
#include "engine/reshard/tiles.h"
#include "ptc/base/result.h"

namespace tessera::reshard {

/// Tensor bytes begin at a cache line of the file.
inline constexpr std::int64_t kHeaderAlignment = 64;

struct Plan {
  std::vector<OutTensor> tensors;               // as in the source: same number, same order
  std::vector<ptc::Shape> unit_shapes;          // a tensor, in units (ptc/packed.h)
  Arrangement arrangement;                      // headers with their metadata, digests all 0
  std::vector<std::int64_t> header_bytes = {};  // a file
  TileSequence tiles;
  std::int64_t tile_bytes = 0;
  std::int64_t source_bytes = 0;  // of all tensors
  std::int64_t output_bytes = 0;  // of all files
  std::uint64_t hash = 0;         // of tensors, files, slots and tiles
};

/// \error kInvalidArgument naming the option, tensor, value and limit
Result<Plan> MakePlan(const checkpoint::Checkpoint& source, const std::string& destination,
                      const Options& options);

/// The dtype of every tensor under the rules.
/// \error kInvalidArgument for a pattern that is none, that fits no tensor, or that fits one that
///     is not floating-point
Result<std::vector<ptc::DType>> ConvertedDTypes(
    const std::vector<checkpoint::StoredTensor>& tensors, const std::vector<DTypeRule>& rules);

/// Most bytes of a tile under a memory limit: each thread has a tile as read, one as written and
/// 3 MiB of scratch. \error kInvalidArgument naming the least memory
Result<std::int64_t> TileBytes(std::int64_t memory_bytes, int threads,
                               std::int64_t most = kTileBytes);

}  // namespace tessera::reshard
