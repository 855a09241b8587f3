// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The processes of a simulated device, which its keeper has started, and the table that its agent
/// has of them.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <random>

#include "agents/node/rank_table.h"
#include "agents/sim/virtual_clock.h"

namespace tessera::agents::sim {

/// The real RankTable on simulated processes, which outlive the agent. A command to leave may not
/// reach a process: it may be stopped, or without a connection since its agent was restarted.
class SimRanks {
 public:
  struct World {
    VirtualClock* clock = nullptr;
    /// Runs something later, unless the agent has died by then.
    std::function<void(Time delay, std::function<void()> then)> in_agent;
  };
  SimRanks(RankId id, World world, std::uint64_t seed);

  /// Starts a process without an agent.
  void Place(Attempt started);
  /// The agent lists the processes that live, and tells them to leave if `has_left`: the device no
  /// longer holds the job.
  void StartAgent(bool has_left);
  void StopAgent() { table_.reset(); }
  /// All processes end at once.
  void Lose();

  /// Starts a process, as the agent does.
  /// \param is_checked false: without a look at the ranks that there are
  /// \error as RankTable::CheckFree
  Status Start(Attempt started, bool is_checked = true);
  void Retire();
  void Kill();

  /// Processes that nobody has killed.
  int num_running() const;

 private:
  Time Pick(Time least, Time most) {
    return std::uniform_int_distribution<Time>(least, most)(random_);
  }
  RankTable::World TableWorld();
  void EndLater(std::int64_t pid, Time delay);

  struct Process {
    Attempt started;
    bool is_killed = false;
  };

  const RankId id_;
  const World world_;
  std::mt19937_64 random_;  // of its own, so that other chances do not depend on it
  std::map<std::int64_t, Process> processes_;  // by pid
  std::int64_t last_pid_ = 0;
  std::optional<RankTable> table_;  // of the agent
};

}  // namespace tessera::agents::sim
