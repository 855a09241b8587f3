// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A simulated node: a disk, a keeper with arenas and ranks, and the real NodeAgent.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agents/keeper/keeper_link.h"
#include "agents/node/config.h"
#include "agents/node/node_agent.h"
#include "agents/sim/collectives.h"
#include "agents/sim/device_memory.h"
#include "agents/sim/memory_store.h"
#include "agents/sim/process.h"
#include "agents/sim/sim_model.h"
#include "agents/sim/sim_move.h"
#include "agents/sim/sim_rank.h"
#include "agents/sim/sim_views.h"

namespace tessera::agents::sim {

class SimNode {
 public:
  struct World {
    SimWorld* sim = nullptr;
    Collectives* collectives = nullptr;
    StepBook* steps = nullptr;
    MemoryOf memory_of;  // of any node
    /// Whether the agent of a node serves the cells of a transfer.
    std::function<bool(std::int32_t node, const LaneKey& key)> serves;
    ShareOf share_of;
    SimModel* model = nullptr;
    /// Arenas of the size of real devices, which cost only what is written into them.
    bool is_sparse = false;
    /// How long the memory of new pieces takes to be present; 0: it is there at once.
    Time warm_time = 0;
    /// Whether something fails that does so now and then.
    std::function<bool()> fails;
    std::function<void(SimNode& from, const wire::FromNode& message)> send;
    /// The register as a process of a node reaches it; null: only through the registrar.
    std::function<std::unique_ptr<engine::DecisionRegister>(Process& process)> reach_register;
    std::shared_ptr<PlanMemo> memo = std::make_shared<PlanMemo>();  // as NodeWorld::memo
    /// As NodeWorld::run_query.
    std::function<void(SimNode& node, const wire::NodeQuery& query,
                       const std::function<void(wire::NodeAnswer)>& reply)>
        run_query;
    /// As NodeWorld::limit_lanes.
    std::function<void(SimNode& node, std::int64_t bytes_per_second)> limit_lanes;
    /// As NodeWorld::log_line.
    std::function<void(SimNode& node, const std::string& line)> log;
    /// The agent kills a rank.
    std::function<void(const SimRank& rank)> killed;
    /// The agent begins to run in its process: what else runs there may begin as well.
    std::function<void(SimNode& node)> started;
    /// The process of the agent has ended.
    std::function<void(SimNode& node)> ended;
  };

  SimNode(AgentConfig config, World world);
  ~SimNode();
  SimNode(const SimNode&) = delete;
  SimNode& operator=(const SimNode&) = delete;

  std::int32_t number() const { return config_.node; }
  const AgentConfig& config() const { return config_; }
  /// Of the agent; it survives everything.
  MemoryStore disk;

  // ---- the keeper
  /// Starts the keeper with empty memory, and the agent.
  void Start();
  bool has_keeper() const { return has_keeper_; }
  /// The wall clock at its start.
  double keeper_since() const { return keeper_since_; }
  /// All processes end, and the memory is gone.
  void Lose();
  DeviceMemory* memory(std::int32_t index);
  /// The version of a share of a snapshot.
  std::optional<std::int64_t> share(std::uint64_t id) const;
  /// Whether the device has been made to fail.
  bool has_failed(std::int32_t index) const;
  /// Ranks that live, by pid.
  std::vector<SimRank*> ranks() const;
  /// Those of one device.
  int num_ranks(std::int32_t index) const;

  // ---- the agent
  /// \pre it does not run
  void StartAgent();
  bool is_up() const { return agent_ != nullptr; }
  /// \pre is_up()
  Process& process();
  NodeAgent& agent();
  bool serves(const LaneKey& key) const;
  std::int64_t incarnation() const { return incarnation_; }
  /// Names the agent in the book of steps.
  std::string process_name() const {
    return fmt::format("agent {} of n{}", incarnation_, number());
  }
  /// Ends the agent's process. The ranks live on.
  void EndAgent();
  void Deliver(std::shared_ptr<const wire::ToNode> message);

 private:
  struct Exit {
    std::string tag;
    int device = 0, status = 0;
  };
  struct Running {
    std::string tag;
    std::unique_ptr<SimRank> rank;
  };
  class Keeper;
  class Links;
  struct Agent;

  NodeWorld MakeWorld();
  std::unique_ptr<Move> StartMove(std::shared_ptr<const MoveContext> context, MoveMode mode,
                                  std::function<void(MoveResult)> done);
  std::unique_ptr<KeptRun> StartKeptDigests(KeptState state, std::function<void(KeptResult)> done);
  Result<std::int64_t> Spawn(const KeeperLink::SpawnRequest& request);
  SimRank::World WorldOfRank(std::int64_t pid, int device);
  void OnRankEnded(std::int64_t pid, int status);
  SimRank* FindRank(std::int64_t pid);

  const AgentConfig config_;
  const World world_;
  bool has_keeper_ = false;
  std::set<std::int32_t> failed_;  // devices that were made to fail
  std::int64_t keeper_ = 0;        // counts the keepers
  double keeper_since_ = 0;
  std::vector<DeviceMemory> memories_;
  std::map<std::int64_t, Running> ranks_;  // by pid, until they are reaped
  std::map<std::int64_t, Exit> exits_;     // by pid, until they are acknowledged
  std::int64_t last_pid_ = 0;
  std::map<std::uint64_t, SimShare> kept_;       // of snapshots, by id
  std::map<std::string, std::string> settings_;  // the files of jobs, by job
  std::map<std::string, RankView> views_;        // likewise, by path
  std::int64_t incarnation_ = 0;
  std::unique_ptr<Agent> agent_;
};

}  // namespace tessera::agents::sim
