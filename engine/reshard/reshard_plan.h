// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Everything that is decided before the first byte is read: tensors, files, headers and tiles.
/// Equal inputs give equal plans, so an interrupted run can be resumed by another process.

#include <cstdint>
#include <string>
#include <vector>

#include "engine/checkpoint/checkpoint.h"
#include "engine/reshard/arrangement.h"
#include "engine/reshard/options.h"
#include "engine/reshard/tiles.h"
#include "ptc/base/result.h"

namespace tessera::reshard {

/// The bytes of the tensors begin at a cache line of the file.
inline constexpr std::int64_t kHeaderAlignment = 64;

struct ReshardPlan {
  std::vector<OutTensor> tensors;               // in number and order of the source
  std::vector<ptc::Shape> unit_shapes;          // of each tensor, in units (ptc/packed.h)
  Arrangement arrangement;                      // its headers have metadata; their digests are 0
  std::vector<std::int64_t> header_bytes = {};  // of each file
  TileSequence tiles;
  std::int64_t tile_bytes = 0;
  std::int64_t source_bytes = 0;  // of all tensors
  std::int64_t output_bytes = 0;  // of all files
  std::uint64_t hash = 0;         // of tensors, files, locations and tiles
};

/// \error kInvalidArgument naming the option or tensor, the value and the limit
Result<ReshardPlan> MakeReshardPlan(const checkpoint::Checkpoint& source,
                                    const std::string& destination, const Options& options);

/// Returns the dtype of each tensor under the rules.
/// \error kInvalidArgument for a malformed pattern, for one that matches no tensor, and for one
///     that matches a tensor which is not floating-point
Result<std::vector<ptc::DType>> ConvertedDTypes(
    const std::vector<checkpoint::StoredTensor>& tensors, const std::vector<DTypeRule>& rules);

/// Returns the largest tile that fits into a memory limit. Each thread needs a tile as read, a tile
/// as written and 3 MiB of scratch.
/// \error kInvalidArgument naming the least memory
Result<std::int64_t> TileBytes(std::int64_t memory_bytes, int threads,
                               std::int64_t most = kTileBytes);

}  // namespace tessera::reshard
