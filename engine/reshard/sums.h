// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Verifies the checksums that a checkpoint states about itself (engine/checkpoint/torch/sums.h).

#include <cstdint>

#include "engine/checkpoint/checkpoint.h"
#include "engine/reshard/digests.h"
#include "ptc/base/result.h"

namespace tessera::reshard {

struct SumsChecked {
  std::int64_t count = 0;  // stated checksums; all of them match
  std::int64_t bytes = 0;  // read to verify them
};

/// Reads every byte that a checksum covers. Each thread verifies one checksum at a time.
/// \error the first of StatedSums, CheckSum and RunPieces
Result<SumsChecked> CheckSums(const checkpoint::Checkpoint& checkpoint, const ReadOptions& options);

}  // namespace tessera::reshard
