// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// A simulated cluster with a job that trains, as the panel starts it.

#include <string>

#include "agents/client/cluster.h"
#include "agents/sim/scenario.h"
#include "ptc/base/result.h"

namespace tessera::app {

struct WantedSimulation {
  int nodes = 2, devices = 4;  // devices per node
  std::string hardware = {};   // empty: `demo` for up to 16 GPUs, else `h100`
  bool demo = false;           // as demoScenario; the other fields are not used
};

/// Two nodes of 4 slow GPUs. For ten minutes the job grows to both nodes and shrinks to the first
/// one in turn. Growing moves some hundred MiB, which takes seconds.
agents::sim::Scenario demoScenario();

/// Starts a cluster named `simulated`, or `simulated-2` and so on while others run. Half of its
/// nodes train a model of a size that suits them; the others are idle. Time passes as fast as it
/// can until the model has made a step, and then as in the world.
/// \error as startLocalCluster; kNotFound naming the hardware
Result<agents::Profile> startSimulation(const WantedSimulation& wanted);

}  // namespace tessera::app
