// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Placement in two levels, for more ranks than one assignment problem can have.

#include <cstdint>
#include <vector>

#include "ptc/plan/placement_problem.h"

namespace tessera::ptc {

/// The candidate of each rank. `bound` gets the most bytes that blocks of ranks on hosts could have
/// in place. \pre at least as many candidates as ranks
std::vector<int> PlaceBlocks(PlacementProblem& problem, std::int64_t& bound);

}  // namespace tessera::ptc
