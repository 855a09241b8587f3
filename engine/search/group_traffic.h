// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What the groups of ranks of the built-in model send each other in one step: counts that do not
/// depend on measurements. The cost model charges the same bytes.

#include <cstdint>

#include "engine/cluster/step_options.h"
#include "engine/model/gpt.h"
#include "ptc/mesh.h"

namespace tessera::engine {

/// Returns the bytes that the group of `rank` along `axis` exchanges in one step. The group is all
/// ranks that differ from `rank` in the coordinate along `axis` only.
///
/// Each collective counts once, with the size of its operand: the algorithm decides how often a
/// byte crosses a link. Along tp these are all-reduces of hidden states; along dp the gradients,
/// and with ZeRO also the parameters that are gathered after the update; along pp the hidden states
/// between all stages, forward and backward, and the gradient and the sum of a tied embedding.
/// 0 for a group of one rank.
/// \pre !settings.program, CheckMesh(settings, shape, options), 0 <= rank < shape.num_ranks()
std::int64_t GroupBytes(const JobSettings& settings, const ptc::MeshShape& shape,
                        const StepOptions& options, int rank, ptc::Axis axis);

}  // namespace tessera::engine
