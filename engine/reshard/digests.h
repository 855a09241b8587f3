// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The layout-independent digests of a checkpoint, from its bytes.

#include <cstdint>
#include <vector>

#include "engine/checkpoint/checkpoint.h"
#include "engine/reshard/work.h"
#include "ptc/base/result.h"

namespace tessera::reshard {

/// How much memory and how many threads reading takes.
struct ReadOptions {
  std::int64_t memory_bytes = std::int64_t{1} << 30;
  int threads = 2;
  Watch watch = {};
};

/// One a tensor; reads everything once. \error as RunPieces and Checkpoint::Read
Result<std::vector<std::uint64_t>> DigestsOf(const checkpoint::Checkpoint& checkpoint,
                                             const ReadOptions& options);

}  // namespace tessera::reshard
