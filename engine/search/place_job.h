// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Chooses the devices of a job's ranks: the bytes that move and the time of a step, against what
/// the loss of a node would cost.

#include <vector>

#include "engine/search/propose.h"
#include "ptc/layout.h"
#include "ptc/mesh.h"

namespace tessera::engine {

/// Returns the mesh of the placement that moves the fewest bytes (ptc::FindPlacements), or of
/// the first one that survives more, if both its step time and the bytes that it moves are at most
/// kEqualSpeed above the other's. Without a layout the job has no state, and ranks are on the first
/// devices instead. The speed of an own program is not known, and counts as equal.
/// \param tensors those of `input.settings` with `options`
/// \param devices at least as many as ranks, any order
/// \error as ptc::FindPlacement
Result<ptc::DeviceMesh> PlaceJob(const SearchInput& input, const ptc::MeshShape& shape,
                                 const StepOptions& options, const ptc::RuledTensors& tensors,
                                 std::vector<ptc::DeviceId> devices);

}  // namespace tessera::engine
