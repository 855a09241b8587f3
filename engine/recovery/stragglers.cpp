// SPDX-License-Identifier: Apache-2.0
#include "engine/recovery/stragglers.h"

#include <algorithm>
#include <map>

#include "ptc/base/median.h"

namespace tessera::engine {

std::vector<SlowRank> FindSlowRanks(const ptc::DeviceMesh& mesh, std::span<const double> busy,
                                    std::span<const SlowRank> before) {
  std::vector<SlowRank> slow;
  if (std::any_of(busy.begin(), busy.end(), [](double seconds) { return seconds <= 0; })) {
    return slow;
  }
  std::map<std::int64_t, std::vector<int>> stages;
  for (int rank = 0; rank < mesh.num_ranks(); ++rank) {
    stages[mesh.Coordinate(rank, ptc::Axis::kPp)].push_back(rank);
  }
  for (const auto& [stage, ranks] : stages) {
    if (ranks.size() < 2) continue;
    for (const int rank : ranks) {
      std::vector<double> others;
      for (const int other : ranks) {
        if (other != rank) others.push_back(busy[static_cast<std::size_t>(other)]);
      }
      const SlowRank found{mesh.devices()[static_cast<std::size_t>(rank)],
                           busy[static_cast<std::size_t>(rank)], UpperMedian(std::move(others))};
      const bool was_slow = std::any_of(before.begin(), before.end(), [&](const SlowRank& b) {
        return b.device == found.device;
      });
      const bool is_slow = was_slow ? found.seconds > kFastRatio * found.peers_seconds
                                    : found.seconds > kSlowRatio * found.peers_seconds &&
                                          found.seconds > found.peers_seconds + kLeastSlow;
      if (is_slow) slow.push_back(found);
    }
  }
  return slow;
}

}  // namespace tessera::engine
