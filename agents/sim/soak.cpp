// SPDX-License-Identifier: Apache-2.0
#include "agents/sim/soak.h"

#include <algorithm>
#include <mutex>
#include <thread>
#include <vector>

namespace tessera::agents::sim {

SoakSum Soak(const SoakPlan& plan,
             const std::function<void(std::uint64_t seed, const ClusterResult& result)>& on_bad) {
  std::mutex mutex;
  SoakSum out;  // under the mutex
  std::uint64_t next = 0;
  const auto work = [&] {
    for (;;) {
      std::uint64_t seed = 0;
      {
        const std::lock_guard lock(mutex);
        if (next == plan.seeds || out.bad >= plan.most_bad) return;
        seed = plan.first + next++;
      }
      const ClusterResult result = SimulateCluster(seed);
      const std::lock_guard lock(mutex);
      ++out.seeds;
      out.sum.events += result.events;
      out.sum.steps += result.steps;
      out.sum.transactions += result.transactions;
      out.sum.commits += result.commits;
      out.sum.recoveries += result.recoveries;
      out.sum.overlapped += result.overlapped;
      out.sum.followed += result.followed;
      out.sum.in_rounds += result.in_rounds;
      out.sum.left += result.left;
      out.sum.from_left += result.from_left;
      out.sum.digests += result.digests;
      if (result.violation.empty()) continue;
      ++out.bad;
      on_bad(seed, result);
    }
  };
  std::vector<std::jthread> threads;
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  for (unsigned i = plan.threads > 0 ? plan.threads : cores; i > 0; --i) threads.emplace_back(work);
  threads.clear();  // joins
  return out;
}

}  // namespace tessera::agents::sim
