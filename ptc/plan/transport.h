// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Solves the transportation problem exactly. It is the assignment problem with a number of equal
/// rows and a number of equal columns.

#include <cstdint>
#include <vector>

#include "ptc/plan/assignment.h"

namespace tessera::ptc {

/// Returns the amount of each row that goes to each column. All supplies are placed, no capacity is
/// exceeded, and the sum of costs is least. Shortest augmenting paths with potentials (Ford and
/// Fulkerson 1962; Tomizawa 1971): O(rows * columns) per path; each path moves as much as possible.
/// \pre supplies and capacities >= 0, the capacities sum to at least the supplies
std::vector<std::vector<std::int64_t>> SolveTransport(
    const std::vector<std::vector<AssignmentCost>>& costs, std::vector<std::int64_t> supply,
    std::vector<std::int64_t> capacity);

}  // namespace tessera::ptc
