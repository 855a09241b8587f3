// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The assignment problem where most pairs are worth nothing, nearly exact and with a proof of how
/// nearly.

#include <cstdint>
#include <vector>

namespace tessera::ptc {

/// What an object is worth to a person.
struct Wish {
  int object = 0;
  std::int64_t value = 0;
};
struct Auction {
  std::vector<int> object_of;  // by person, no object twice
  std::int64_t value = 0;      // of all pairs together
  /// No assignment is worth more: at most `value` + `step` for each object.
  std::int64_t bound = 0;
};

/// Persons bid for the objects that are worth most to them at the present prices, which rise by
/// the difference to the second best and a step; the step gets smaller from one auction to the next
/// and the prices stay (epsilon scaling; Bertsekas, Annals of Operations Research 14, 1988). The
/// last prices are a solution of the dual problem and so prove the bound. Deterministic.
/// Pairs that are not listed are worth 0. O(pairs) memory.
/// \pre no more persons than objects; values >= 0, each pair at most once; step >= 1; the sum of
///     the best value of each object fits int64
Auction HoldAuction(const std::vector<std::vector<Wish>>& persons, int num_objects,
                    std::int64_t step);

}  // namespace tessera::ptc
