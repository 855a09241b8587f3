// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Runs a scenario as fast as this machine can, without sockets: the real registrar and the agents
/// of a fleet in one process. The same scenario and seed give the same run.

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "agents/sim/scenario.h"
#include "engine/history/history.h"

namespace tessera::agents::sim {

struct ScenarioObserver {
  /// Seconds since the begin of the scenario.
  std::function<void(double seconds, const engine::Event& event)> event = {};
  /// What has become of an act: accepted, or refused with a reason.
  std::function<void(double seconds, const Scenario::Act& act, const Status& status)> act = {};
  /// A few times a second of the machine's time.
  std::function<void(double seconds)> progress = {};
};

struct ScenarioResult {
  /// Acts that were refused and expectations that did not hold: "line 12: …".
  std::vector<std::string> failures;
  engine::ClusterSnapshot cluster;            // at the end
  std::vector<engine::HistoryEntry> changes;  // oldest first
  std::int64_t samples = 0;                   // steps on record
  double seconds = 0;                         // simulated
};

/// \param history receives what happens; empty at the begin
/// \param reader of the same history; may be the same object
/// \error kCancelled; those of the history
Result<ScenarioResult> RunScenario(const Scenario& scenario, engine::History& history,
                                   engine::History& reader, const ScenarioObserver& observer,
                                   const std::stop_token& stop = {});

}  // namespace tessera::agents::sim
