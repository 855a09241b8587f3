// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The nodes of a cluster that a simulator plays, as a registrar with real sockets sees them.

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "agents/net/timers.h"
#include "agents/registrar/data_opener.h"
#include "agents/wire/messages_fwd.h"
#include "engine/cluster/snapshot.h"
#include "engine/search/calibration.h"
#include "ptc/base/result.h"
#include "ptc/topology/topology.h"

namespace tessera::agents {

/// What a registrar knows of a simulation besides its nodes.
struct SimulationFacts {
  /// As clients see it.
  std::function<engine::SimulationStatus()> status;
  /// The speeds of the simulated machines, from which plans and estimates follow.
  engine::Calibration calibration;
  ptc::Topology topology;  // without hosts
  /// Carries out what a user wants of the simulation itself.
  /// \error naming the value and its limits
  std::function<Status(const wire::SimulateRequest& request)> steer;
  /// Ends the process soon, also while the simulated clock is stopped.
  std::function<void()> shut_down;
};

/// \threadsafety The loop's thread.
class SimulatedNodes {
 public:
  SimulatedNodes() = default;
  SimulatedNodes(const SimulatedNodes&) = delete;
  SimulatedNodes& operator=(const SimulatedNodes&) = delete;
  virtual ~SimulatedNodes() = default;

  /// The time of the simulation, which the registrar lives in.
  virtual Timers& timers() = 0;
  virtual double wall_clock() const = 0;
  virtual std::unique_ptr<DataOpener> MakeData() = 0;
  virtual std::shared_ptr<const SimulationFacts> facts() const = 0;
  /// Takes a reply to a request of the simulation itself.
  /// \return false if it is another client's
  virtual bool OnReply(const std::string& identity, const wire::Reply& reply) = 0;
  /// \return nullopt if no simulated node has this identity
  virtual std::optional<Status> Send(const std::string& identity, const wire::ToNode& message) = 0;
};

}  // namespace tessera::agents
