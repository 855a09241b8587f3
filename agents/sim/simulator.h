// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A simulated cluster behind the real wire: a registrar with its sockets, keys and history, and a
/// fleet of nodes in the same process, whose time passes as fast as is wanted.

#include <chrono>
#include <memory>

#include "agents/net/loop.h"
#include "agents/registrar/registrar_server.h"
#include "agents/sim/fleet.h"
#include "agents/sim/scenario.h"
#include "agents/sim/scenario_player.h"

namespace tessera::agents::sim {

/// \threadsafety The loop's thread.
class Simulator final : public SimulatedNodes {
 public:
  /// \pre config.simulation; loop and net outlive it
  /// \error as RegistrarServer::Start; naming hardware or memory that cannot be simulated
  static Result<std::unique_ptr<Simulator>> Start(Loop& loop, NetContext& net,
                                                  const AgentConfig& config, const CurveKeys& keys);

  Timers& timers() override { return fleet_.timers(); }
  double wall_clock() const override;
  std::unique_ptr<DataOpener> MakeData() override { return fleet_.MakeData(); }
  std::shared_ptr<const SimulationFacts> facts() const override { return facts_; }
  bool OnReply(const std::string& identity, const wire::Reply& reply) override;
  std::optional<Status> Send(const std::string& identity, const wire::ToNode& message) override {
    return fleet_.Send(identity, message);
  }

 private:
  using Clock = std::chrono::steady_clock;

  Simulator(Loop& loop, const AgentConfig& config, Hardware hardware);
  Fleet::World FleetWorld();
  SimulationFacts MakeFacts(const AgentConfig& config, const Hardware& hardware);
  /// \error naming what is wrong with the file
  Status PlayScenario();
  Status Steer(const wire::SimulateRequest& request);
  /// Runs what is due, for a short while, and comes again.
  void Advance();
  /// Time passes as fast as it can until EndAhead.
  void RunAhead();
  void EndAhead();
  /// From now on time passes at this speed.
  void SetPace(double pace);
  void MeasureReached();

  Loop& loop_;
  const SimulationConfig config_;
  Fleet fleet_;
  std::optional<Scenario> scenario_;
  std::optional<ScenarioPlayer> player_;  // of the scenario
  bool have_joined_ = false;              // the nodes; until then time passes as in the world
  bool runs_ahead_ = false;               // between RunAhead and EndAhead
  Clock::time_point begun_;               // of RunAhead
  double speed_ = 1;                      // as wanted
  double pace_ = 1;                       // as it is
  Clock::time_point real_base_;           // at which it was
  Time base_ = 0;                         // in the simulation
  Clock::time_point measured_;
  Time at_measured_ = 0;
  double reached_ = 1;
  std::shared_ptr<const SimulationFacts> facts_;
  std::unique_ptr<RegistrarServer> registrar_;
};

}  // namespace tessera::agents::sim
