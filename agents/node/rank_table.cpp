// SPDX-License-Identifier: Apache-2.0
#include "agents/node/rank_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ptc/base/median.h"

namespace tessera::agents {

void RankTable::Recover(const RankId& id, std::int64_t pid, Attempt started) {
  Rank rank{.id = id, .pid = pid, .started = started};
  const auto [other, is_only] = ranks_.try_emplace(id, rank);
  if (is_only) return;
  if (other->second.started < started) std::swap(other->second, rank);
  Kill(rank);
}

void RankTable::Add(const RankId& id, std::int64_t pid, Attempt started) {
  ranks_.insert_or_assign(id, Rank{.id = id, .pid = pid, .started = started});
}

Status RankTable::CheckFree(ptc::DeviceId device) {
  for (auto& [id, rank] : ranks_) {
    if (id.device != device) continue;
    if (!rank.exit_expected) {
      return FailedPrecondition(
          fmt::format("the rank of '{}' on {} still runs", id.job, ToString(device)));
    }
    Kill(rank);
  }
  return OkStatus();
}

void RankTable::Retire(Rank& rank) {
  rank.exit_expected = true;
  world_.send_leave(rank.id);
  world_.after(kToLeave, [this, id = rank.id, pid = rank.pid] {
    Rank* late = Find(id);
    if (late && late->pid == pid) Kill(*late);
  });
}

void RankTable::Kill(Rank& rank) {
  rank.exit_expected = true;
  world_.kill(rank.pid);
}

void RankTable::KillAll(const std::string& job) {
  for (auto& [id, rank] : ranks_) {
    if (id.job == job) Kill(rank);
  }
}

std::optional<RankTable::Rank> RankTable::Remove(const RankId& id, std::int64_t pid) {
  const auto found = ranks_.find(id);
  if (found == ranks_.end() || found->second.pid != pid) return std::nullopt;
  Rank rank = std::move(found->second);
  ranks_.erase(found);
  return rank;
}

bool RankTable::Is(const RankId& id, std::int64_t pid, std::int64_t group) const {
  const Rank* rank = Find(id);
  return rank && (rank->pid == pid || rank->pid == group);
}

RankTable::Rank* RankTable::Find(const RankId& id) {
  const auto found = ranks_.find(id);
  return found == ranks_.end() ? nullptr : &found->second;
}

const RankTable::Rank* RankTable::Find(const RankId& id) const {
  const auto found = ranks_.find(id);
  return found == ranks_.end() ? nullptr : &found->second;
}

int RankTable::NumRunning(const std::string& job) const {
  return static_cast<int>(std::count_if(ranks_.begin(), ranks_.end(), [&](const auto& entry) {
    return entry.first.job == job && !entry.second.exit_expected;
  }));
}

std::optional<RankTable::Pause> RankTable::AllPaused(const std::string& job,
                                                     std::span<const ptc::DeviceId> devices) const {
  std::optional<Pause> all;
  for (const ptc::DeviceId device : devices) {
    const Rank* rank = Find({job, device});
    if (!rank || !rank->paused) return std::nullopt;
    if (all &&
        (all->step != rank->paused->step || all->before_update != rank->paused->before_update)) {
      return std::nullopt;
    }
    std::string reason = all ? std::move(all->reason) : std::string();
    all = rank->paused;
    if (!reason.empty()) all->reason = std::move(reason);
  }
  return all;
}

void RankTable::NoteStep(Rank& rank, double busy_seconds) {
  rank.paused.reset();
  if (busy_seconds > 0) rank.busy.push_back(busy_seconds);
  if (rank.busy.size() > kBusySteps) rank.busy.pop_front();
}

double RankTable::UsualBusySeconds(const Rank& rank) {
  return rank.busy.size() < kBusySteps ? 0 : UpperMedian({rank.busy.begin(), rank.busy.end()});
}

}  // namespace tessera::agents
