// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The state before the first step.

#include "agents/train/model/rank_state.h"
#include "engine/model/gpt.h"

namespace tessera::agents::train {

/// Fills the state: matrices from N(0, 0.02), those that write to the residual stream (proj, fc2)
/// scaled by 1 / sqrt(2 * layers) as in GPT-2; norms with 1 and 0, biases and moments with 0; step
/// 0; the cursor at the start of the data. A value depends only on the seed, the tensor name and
/// the index of the element in the uncut tensor. The drawn f32 value is the master of a bf16
/// parameter, and the parameter its rounding.
void Initialise(const engine::JobSettings& settings, const RankState& state);

}  // namespace tessera::agents::train
