// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// What a job of a cluster has been through, as a scenario for a simulated cluster.

#include <string>

#include "agents/sim/scenario.h"
#include "app/commands/session.h"

namespace tessera::app {

struct JobPastOptions {
  std::string model = {};     // empty: as the cluster knows it, while the job is there
  std::string hardware = {};  // empty: that of the cluster if it is simulated, else h100
};

/// Reads the history of the job from the registrar.
/// \error kInvalidArgument if the model is unknown; kNotFound without a committed change
Result<agents::sim::Scenario> scenarioOfJob(Session& session, const std::string& job,
                                            const JobPastOptions& options = {});

}  // namespace tessera::app
