// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// In which round each hop goes, under a budget of memory.

#include <cstdint>
#include <vector>

#include "ptc/base/result.h"
#include "ptc/plan/plan.h"
#include "ptc/schedule/hops.h"

namespace tessera::ptc {

struct RoundsOptions {
  std::int64_t memory_budget = 0;  // 0: no limit, nothing is freed
  /// Rounds among which what enters a host is divided evenly, where memory does not ask for more.
  std::int64_t min_rounds = 1;
};

/// All by round, indices into the hops and into the moves of the plan.
struct Rounds {
  std::vector<std::size_t> first_frees;  // drops before the first round
  std::vector<std::vector<std::size_t>> hops;
  std::vector<std::vector<std::size_t>> copies;  // local copies
  std::vector<std::vector<std::size_t>> frees;   // drops
  std::vector<std::int64_t> peak_memory;         // by device
};

/// A new piece is allocated in the round in which it is first written. Tensors have an order, on
/// all devices the same; a piece may overtake another of its device only where memory is left for
/// both, so that a budget that suffices tensor by tensor always suffices. Where the budget binds,
/// the order is found greedily: next comes the tensor whose new pieces make the fullest of their
/// devices the least full.
/// \error kResourceExhausted naming device, bytes and budget
Result<Rounds> MakeRounds(const Plan& plan, const std::vector<Hop>& hops, const Collection& from,
                          const Collection& to, const Sites& sites, const RoundsOptions& options);

}  // namespace tessera::ptc
