// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// `--devices` and `--mesh`, as `job start`, `plan` and `apply` take them.

#include "agents/wire/tessera/wire/control.pb.h"
#include "app/commands/command.h"
#include "engine/cluster/snapshot.h"

namespace tessera::app {

struct Placement {
  std::vector<ptc::DeviceId> devices;  // empty: chosen by the cluster
  std::optional<ptc::MeshShape> mesh;  // empty: chosen by the cluster
};

/// \error kInvalidArgument for a text that names no devices or no mesh, and for a mesh whose
///     product is not the number of devices (names both).
Result<Placement> readPlacement(const Arguments& arguments);

/// J and the placement of `plan` and `apply`. \error also for missing --devices.
Result<wire::PlanRequest> readPlanRequest(const Arguments& arguments);

/// The plan as a person reads it.
std::string describePlan(const engine::PlanSummary& plan);

OptionSpec devicesOption(const std::string& fallback);
OptionSpec meshOption(const std::string& fallback);
OptionSpec pinOption();

}  // namespace tessera::app
