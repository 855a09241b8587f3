// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/slow_rank_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace tessera::agents {

void SlowRankWatch::Note(Job& job) const {
  std::vector<double> busy;
  for (const ptc::DeviceId id : job.layout.mesh().devices()) {
    const wire::NodeDevice* device = members_.FindDevice(id);
    const bool is_its = device && device->job() == job.name && device->epoch() == job.epoch;
    busy.push_back(is_its ? device->busy_seconds() : 0);
  }
  auto slow = engine::FindSlowRanks(job.layout.mesh(), busy, job.slow);
  const auto has = [](const std::vector<engine::SlowRank>& ranks, ptc::DeviceId device) {
    return std::any_of(ranks.begin(), ranks.end(),
                       [&](const engine::SlowRank& rank) { return rank.device == device; });
  };
  for (const engine::SlowRank& rank : slow) {
    if (has(job.slow, rank.device)) continue;
    std::vector<ptc::DeviceId> others = job.layout.mesh().devices();
    std::erase(others, rank.device);
    AddEvent(engine::Severity::kWarning, job.name,
             fmt::format("{} computes {:.2f} s per step, its peers {:.2f} s: the job waits for it; "
                         "without it: `tesseractl plan {} --devices {}`",
                         ToString(rank.device), rank.seconds, rank.peers_seconds, job.name,
                         ptc::ToString(others)));
  }
  for (const engine::SlowRank& rank : job.slow) {
    if (!has(slow, rank.device) && job.layout.mesh().RankOf(rank.device)) {
      AddEvent(engine::Severity::kInfo, job.name,
               fmt::format("{} is no longer slower than its peers", ToString(rank.device)));
    }
  }
  job.slow = std::move(slow);
}

}  // namespace tessera::agents
