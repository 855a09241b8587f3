// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Assigns each hop to a round, within a memory budget.

#include <cstdint>
#include <vector>

#include "ptc/base/result.h"
#include "ptc/plan/plan.h"
#include "ptc/schedule/hops.h"

namespace tessera::ptc {

struct RoundsOptions {
  std::int64_t memory_budget = 0;  // 0: no limit, nothing is freed
  /// The number of rounds over which the bytes that enter a host are spread evenly. A memory budget
  /// may require more rounds.
  std::int64_t min_rounds = 1;
};

/// By round: indices into the hops and into the moves of the plan.
struct Rounds {
  std::vector<std::size_t> first_frees;  // drops before the first round
  std::vector<std::vector<std::size_t>> hops;
  std::vector<std::vector<std::size_t>> copies;  // local copies
  std::vector<std::vector<std::size_t>> frees;   // drops
  std::vector<std::int64_t> peak_memory;         // by device
};

/// A new piece is allocated in the round in which it is first written. Tensors have the same order
/// on all devices. A piece may be allocated before an earlier one on its device only if memory is
/// left for both, so a budget that suffices tensor by tensor always suffices. If the budget is
/// tight, the order is found greedily: the next tensor is the one whose new pieces leave the
/// fullest of their devices the least full.
/// \error kResourceExhausted naming the device, the bytes and the budget
Result<Rounds> MakeRounds(const Plan& plan, const std::vector<Hop>& hops, const Collection& from,
                          const Collection& to, const Sites& sites, const RoundsOptions& options);

}  // namespace tessera::ptc
