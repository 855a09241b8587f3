// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Whether a checkpoint still is what its own sums say (engine/checkpoint/torch/sums.h).

#include <cstdint>

#include "engine/checkpoint/checkpoint.h"
#include "engine/reshard/digests.h"
#include "ptc/base/result.h"

namespace tessera::reshard {

struct SumsChecked {
  std::int64_t count = 0;  // sums that are stated, all of them right
  std::int64_t bytes = 0;  // read for them
};

/// Reads every byte that a sum is stated of; a thread takes one sum at a time.
/// \error the first of StatedSums, CheckSum and RunPieces
Result<SumsChecked> CheckSums(const checkpoint::Checkpoint& checkpoint, const ReadOptions& options);

}  // namespace tessera::reshard
