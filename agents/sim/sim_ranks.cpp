// SPDX-License-Identifier: Apache-2.0
#include "agents/sim/sim_ranks.h"

#include <algorithm>
#include <utility>

namespace tessera::agents::sim {

SimRanks::SimRanks(RankId id, World world, std::uint64_t seed)
    : id_(std::move(id)), world_(std::move(world)), random_(seed) {}

RankTable::World SimRanks::TableWorld() {
  RankTable::World world;
  world.kill = [this](std::int64_t pid) {
    const auto process = processes_.find(pid);
    if (process == processes_.end()) return;
    process->second.is_killed = true;
    EndLater(pid, Pick(1, 50));
  };
  world.send_leave = [this](const RankId& id) {
    if (Pick(1, 5) > 1) EndLater(table_->Find(id)->pid, Pick(1, 300));
  };
  world.after = [this](std::chrono::seconds delay, std::function<void()> then) {
    world_.in_agent(std::chrono::milliseconds(delay).count(), std::move(then));
  };
  return world;
}

void SimRanks::EndLater(std::int64_t pid, Time delay) {
  world_.clock->After(delay, [this, pid] {
    if (processes_.erase(pid) > 0 && table_) table_->Remove(id_, pid);
  });
}

void SimRanks::Place(Attempt started) { processes_[++last_pid_] = {started, false}; }

void SimRanks::StartAgent(bool has_left) {
  table_.emplace(TableWorld());
  for (const auto& [pid, process] : processes_) table_->Recover(id_, pid, process.started);
  if (has_left) Retire();
}

void SimRanks::Lose() {
  table_.reset();
  processes_.clear();
}

Status SimRanks::Start(Attempt started, bool is_checked) {
  if (is_checked) TESSERA_RETURN_IF_ERROR(table_->CheckFree(id_.device));
  Place(started);
  table_->Add(id_, last_pid_, started);
  return OkStatus();
}

void SimRanks::Retire() {
  if (RankTable::Rank* rank = table_->Find(id_)) table_->Retire(*rank);
}

void SimRanks::Kill() {
  if (RankTable::Rank* rank = table_->Find(id_)) table_->Kill(*rank);
}

int SimRanks::num_running() const {
  return static_cast<int>(std::count_if(processes_.begin(), processes_.end(),
                                        [](const auto& p) { return !p.second.is_killed; }));
}

}  // namespace tessera::agents::sim
