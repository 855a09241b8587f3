// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What goes wrong in a simulated cluster, and what that may cost.

#include <cstdint>
#include <functional>
#include <map>

#include "agents/sim/memory_store.h"
#include "agents/sim/sim_links.h"
#include "agents/sim/sim_node.h"
#include "agents/sim/sim_world.h"

namespace tessera::agents::sim {

class SimFaults {
 public:
  struct World {
    SimWorld* sim = nullptr;
    std::function<SimNode&(std::int32_t number)> node;
    std::function<std::int32_t()> num_nodes;
    SimLinks* links = nullptr;
    MemoryStore* registrar_disk = nullptr;
    bool is_trainer = false;  // the job is the built-in trainer; else an own program
    bool is_lossy = false;    // links lose single messages
    Time end = 0;             // of all faults
  };
  explicit SimFaults(World world) : world_(std::move(world)), may_suspend_(world_.is_lossy) {}

  /// Chooses one more fault.
  void Plan();
  /// The agent has begun to run in its process.
  void OnAgentStarted(SimNode& node);
  /// No agent dies any more. Where little happens, one whose death was planned may live until then.
  void EndDeaths();
  /// How long the agent that has ended stays away.
  Time DownTime(std::int32_t n);
  /// A step has been decided, and is in the memory of its ranks.
  void OnDecision();
  /// The registrar writes a decision.
  void OnRegisterWrite();
  /// The registrar begins a round of a move at a node.
  void OnRound();
  /// A part of the state may have no copy.
  void NoteStateLoss() { may_lose_state_ = may_suspend_ = true; }

  bool may_lose_state() const { return may_lose_state_; }
  /// Whether something has happened that may keep the ranks of a job from going on.
  bool may_suspend() const { return may_suspend_; }

 private:
  struct Deaths {
    Time down = 0;
    std::int64_t again = 0;  // the next agents die soon as well
  };
  SimNode& At(std::int32_t n) const { return world_.node(n); }
  /// One that lives, or nullptr.
  SimRank* AnyRank(std::int32_t n) const;
  void KillRank(SimRank& rank);
  void KillAgent(std::int32_t n, Time down);
  void EndAllAgents();
  /// \param n the node of the disk, unless it is the registrar's
  void NoteDisk(const MemoryStore& disk, std::int32_t n, const char* fault, Time length);
  void FillDisk(std::int32_t n, Time length);
  void SlowDisk(std::int32_t n, Time length);
  void LoseNode(std::int32_t n, Time length);

  const World world_;
  std::map<std::int32_t, Deaths> deaths_;  // by node
  bool kills_at_decision_ = false;
  Time registrar_down_ = 0;  // after its next decision
  Time loses_in_round_ = 0;  // after that a node may come back that is lost in a round
  bool may_lose_state_ = false, may_suspend_;
};

}  // namespace tessera::agents::sim
