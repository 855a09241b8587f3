// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The state before the first step.

#include "agents/train/model/rank_state.h"
#include "engine/model/gpt.h"

namespace tessera::agents::train {

/// Fills the state: matrices from N(0, 0.02), those that write to the residual stream (proj, fc2)
/// scaled by 1 / sqrt(2 * layers) as in GPT-2; norms 1 and 0, biases and moments 0; step 0, the
/// cursor at the start of the data. A value depends on seed, tensor name and the element's index in
/// the uncut tensor only. A bf16 parameter is the rounding of its master, which is what was drawn.
void Initialise(const engine::JobSettings& settings, const RankState& state);

}  // namespace tessera::agents::train
