// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Many simulated clusters, on several threads.

#include <cstdint>
#include <functional>

#include "agents/sim/cluster_sim.h"

namespace tessera::agents::sim {

struct SoakPlan {
  std::uint64_t first = 1;
  std::uint64_t seeds = 0;
  std::uint64_t most_bad = ~std::uint64_t{0};  // then it ends early
  unsigned threads = 0;                        // 0: one per core
};
struct SoakSum {
  std::uint64_t seeds = 0, bad = 0;
  ClusterResult sum;  // without a violation
};
/// \param on_bad called for each seed that does not hold, by one thread at a time
SoakSum Soak(const SoakPlan& plan,
             const std::function<void(std::uint64_t seed, const ClusterResult& result)>& on_bad);

}  // namespace tessera::agents::sim
