// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The order in which a pipeline stage works on the micro-batches of a step.

#include <cstdint>
#include <vector>

namespace tessera::engine {

struct StageAction {
  enum Kind : std::uint8_t { kForward, kBackward };
  Kind kind = kForward;
  std::int64_t micro_batch = 0;
  friend bool operator==(const StageAction&, const StageAction&) = default;
};

/// One forward, one backward (PipeDream-Flush; Narayanan et al., "Efficient Large-Scale Language
/// Model Training on GPU Clusters Using Megatron-LM", SC 2021, section 2.2.1). Stage s of p makes
/// min(p - 1 - s, m) forward passes ahead, then forward and backward passes in turn, then the
/// remaining backward passes. Passes of both kinds are in order of micro-batch. At most p - s
/// micro-batches are between their forward and their backward pass.
///
/// With p = 1 each forward pass is followed by its backward pass. Stages never wait in a circle if
/// each sends its results at once and two messages fit between neighbours in each direction.
/// \pre 0 <= stage < stages, micro_batches >= 1
std::vector<StageAction> OneForwardOneBackward(std::int64_t stage, std::int64_t stages,
                                               std::int64_t micro_batches);

}  // namespace tessera::engine
