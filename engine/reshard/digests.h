// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Computes the layout-independent digests of a checkpoint from its bytes.

#include <cstdint>
#include <vector>

#include "engine/checkpoint/checkpoint.h"
#include "engine/reshard/work.h"
#include "ptc/base/result.h"

namespace tessera::reshard {

struct ReadOptions {
  std::int64_t memory_bytes = std::int64_t{1} << 30;  // of all buffers together
  int threads = 2;
  Watch watch = {};
};

/// Returns the digest of each tensor. Reads every byte once.
/// \error as RunPieces and Checkpoint::Read
Result<std::vector<std::uint64_t>> DigestsOf(const checkpoint::Checkpoint& checkpoint,
                                             const ReadOptions& options);

}  // namespace tessera::reshard
