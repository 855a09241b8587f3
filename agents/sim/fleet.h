// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The nodes of a modelled cluster: the real NodeAgent of each, with simulated keepers, ranks and
/// links whose times follow from the hardware. Nothing fails but what is made to fail.

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agents/node/config.h"
#include "agents/registrar/data_opener.h"
#include "agents/registrar/simulated_nodes.h"
#include "agents/sim/hardware_model.h"
#include "agents/sim/sim_links.h"
#include "agents/sim/sim_node.h"

namespace tessera::agents::sim {

class Fleet {
 public:
  struct World {
    std::function<void(const std::string& identity, const wire::FromNode& message)> to_registrar;
    /// For the log of the process.
    std::function<void(const std::string& line)> log;
    Time warm_time = 0;  // see SimNode::World
  };
  /// \error naming what cannot be simulated: too many devices, or memory that is no whole page
  static Status Check(const AgentConfig& config);
  /// \param config as of the registrar: devices, memory, and the simulation
  /// \pre Check(config)
  Fleet(const AgentConfig& config, Hardware hardware, World world);
  ~Fleet();
  Fleet(const Fleet&) = delete;
  Fleet& operator=(const Fleet&) = delete;

  SimWorld& sim() { return sim_; }
  const SimWorld& sim() const { return sim_; }
  /// Those of the registrar.
  Timers& timers() { return registrar_; }
  std::unique_ptr<DataOpener> MakeData();
  std::optional<Status> Send(const std::string& identity, const wire::ToNode& message);

  std::int32_t num_nodes() const { return static_cast<std::int32_t>(nodes_.size()); }
  /// Adds nodes after the last one, and starts them.
  Status AddNodes(std::int64_t count);
  /// Starts a lost node with empty devices.
  Status StartNode(std::int32_t number);
  /// All of its processes end, and its memory is gone.
  Status LoseNode(std::int32_t number);
  /// Ends the agent. Its keeper starts another one.
  Status RestartAgent(std::int32_t number);
  /// Nothing reaches the node and nothing comes from it, for these seconds.
  Status Cut(std::int32_t number, double seconds);
  /// The speed of a node's network port, as a share of the hardware's.
  Status SetPort(std::int32_t number, double share);
  /// The device computes `factor` times as long.
  Status SetSlow(ptc::DeviceId device, double factor);

  /// As a request of a client; its speed is not the fleet's.
  Status Steer(const wire::SimulateRequest& request);

 private:
  static constexpr std::size_t kKeptPlans = 4;
  struct Log {
    std::deque<std::string> lines;
  };
  void Add(std::int32_t number);
  std::string RackOfNode(std::int32_t number) const;
  SimNode& At(std::int32_t n) { return *nodes_[static_cast<std::size_t>(n)]; }
  /// \error naming the node and how many there are
  Result<SimNode*> Find(std::int32_t number);
  void Note(std::int32_t node, const std::string& line);
  wire::NodeAnswer AnswerTo(std::int32_t node, const wire::NodeQuery& query) const;
  SimLinks::World LinkWorld();

  const AgentConfig config_;
  const Hardware hardware_;
  const World world_;
  SimWorld sim_;
  HardwareModel model_;
  Process registrar_{sim_, [] {}};
  Collectives collectives_;
  StepBook steps_{nullptr};
  const std::shared_ptr<PlanMemo> memo_ = std::make_shared<PlanMemo>(kKeptPlans);
  std::deque<Log> logs_;  // by node
  std::vector<std::unique_ptr<SimNode>> nodes_;
  SimLinks links_{LinkWorld()};
};

}  // namespace tessera::agents::sim
