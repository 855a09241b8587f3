// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Placement in two levels, for more ranks than one assignment problem can handle.

#include <cstdint>
#include <vector>

#include "ptc/plan/placement_problem.h"

namespace tessera::ptc {

/// Returns the candidate of each rank. Sets `bound` to a number of bytes that no placement of these
/// blocks on hosts can exceed.
/// \pre at least as many candidates as ranks
std::vector<int> PlaceBlocks(PlacementProblem& problem, std::int64_t& bound);

}  // namespace tessera::ptc
