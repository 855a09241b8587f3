// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Solves the rectangular assignment problem exactly.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tessera::ptc {

/// A cost with three entries in order: an earlier entry outweighs any amount of a later one. The
/// algorithm needs only sums, differences and comparisons, so it works with such triples.
struct AssignmentCost {
  std::int64_t first = 0;
  std::int64_t second = 0;
  std::int64_t third = 0;
  friend AssignmentCost operator+(AssignmentCost a, AssignmentCost b) {
    return {a.first + b.first, a.second + b.second, a.third + b.third};
  }
  friend AssignmentCost operator-(AssignmentCost a, AssignmentCost b) {
    return {a.first - b.first, a.second - b.second, a.third - b.third};
  }
  friend auto operator<=>(const AssignmentCost&, const AssignmentCost&) = default;
};

/// Assigns a different column to each row so that the sum of costs is least.
/// O(rows^2 * columns): shortest augmenting paths with potentials (Jonker and Volgenant 1987).
/// \pre every row has the same number of columns, at least the number of rows
std::vector<std::size_t> SolveAssignment(const std::vector<std::vector<AssignmentCost>>& costs);

}  // namespace tessera::ptc
