// SPDX-License-Identifier: Apache-2.0
#include "agents/node/rank_ends.h"

#include <algorithm>

#include "agents/job/rank_links.h"
#include "agents/node/node_views.h"

namespace tessera::agents {

void RankEnds::End(const std::string& job) {
  std::set<std::int64_t> pids;
  for (const auto& [id, rank] : ranks_.ranks()) {
    if (id.job == job) pids.insert(rank.pid);
  }
  EndThese(job, std::move(pids), timers_.now() + kForUpdate);
}

// If a rank dies inside an update, half of that update is made. If it dies between a decision and
// its update, its device stays one step behind the others. So ranks make the update of a decision
// that this node knows, and no later one.
void RankEnds::EndThese(const std::string& job, std::set<std::int64_t> pids,
                        Timers::Clock::time_point deadline) {
  bool is_updating = false, has_others = false;
  for (auto& [id, rank] : ranks_.ranks()) {
    const DeviceStore::Device* device = id.job == job ? devices_.Find(id.device) : nullptr;
    if (!device) continue;
    if (!pids.contains(rank.pid)) {
      has_others = true;
      continue;
    }
    engine::ArenaHeader& header = device->arena->header();
    header.hold.store(std::max(header.end.load(), header.decision_step.load()) + 1);
    const bool is_behind = header.decision_step.load() == header.end.load() + 1;
    const bool is_in_update = header.begin.load() != header.end.load();
    // A rank that was stopped for a while may have begun it just before the deadline.
    const auto limit = is_in_update ? deadline + kForUpdate : deadline;
    if ((is_behind || is_in_update) && timers_.now() <= limit) {
      is_updating = true;
    } else {
      ranks_.Kill(rank);
    }
  }
  if (is_updating) {
    timers_.After(std::chrono::milliseconds(5),
                  [this, job, pids = std::move(pids), deadline] { EndThese(job, pids, deadline); });
    return;
  }
  if (!has_others) Kill(job);
  send_heartbeat_();
}

void RankEnds::Kill(const std::string& job) {
  ranks_.KillAll(job);
  links_.ranks->Forget(job);
  links_.views->GiveUp(job);
}

}  // namespace tessera::agents
