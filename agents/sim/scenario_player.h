// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Does what a scenario says, at its times, as an operator of the cluster would.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "agents/net/key_owner.h"
#include "agents/sim/fleet.h"
#include "agents/sim/scenario.h"
#include "agents/wire/messages_fwd.h"

namespace tessera::agents::sim {

class ScenarioPlayer {
 public:
  struct World {
    Fleet* fleet = nullptr;
    /// Hands a request to the registrar. Its reply comes through OnReply, now or later.
    std::function<void(const wire::Request& request)> request;
    /// What has become of an act.
    std::function<void(const Scenario::Act& act, const Status& status)> done;
  };
  /// The name of the key of its requests, and the identity of its connection.
  static constexpr char kName[] = "scenario";

  /// \param scenario outlives the player
  ScenarioPlayer(const Scenario& scenario, World world)
      : scenario_(scenario), world_(std::move(world)) {}

  /// Plays from now on.
  void Start();
  /// Seconds of the scenario.
  double now() const;
  /// When this moment of the scenario is.
  Time TimeOf(double seconds) const;
  void OnReply(const wire::Reply& reply);
  std::optional<engine::ClusterSnapshot> Look();

 private:
  using OnAnswer = std::function<void(const wire::Reply& reply)>;
  void Request(wire::Request request, OnAnswer then);
  void Do(const Scenario::Act& act);
  void Ask(const Scenario::Act& act, const wire::Request& request);
  Status Check(const act::Expect& expect);

  const Scenario& scenario_;
  const World world_;
  Time begin_ = 0;
  std::int64_t requests_ = 0;
  std::map<std::string, OnAnswer> answers_;  // by request
};

}  // namespace tessera::agents::sim
