// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The transportation problem, exact: the assignment problem where rows and columns come in
/// numbers of equals.

#include <cstdint>
#include <vector>

#include "ptc/plan/assignment.h"

namespace tessera::ptc {

/// How many of each row go to each column so that all rows are placed, no column is overfull and
/// the sum of costs is least. Shortest augmenting paths with potentials (Ford and Fulkerson 1962;
/// Tomizawa 1971): O(rows * columns) for each path, and a path moves as many as it can.
/// \pre supplies and capacities >= 0, the capacities sum to at least the supplies
std::vector<std::vector<std::int64_t>> SolveTransport(
    const std::vector<std::vector<AssignmentCost>>& costs, std::vector<std::int64_t> supply,
    std::vector<std::int64_t> capacity);

}  // namespace tessera::ptc
