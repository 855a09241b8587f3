// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// `--devices`, `--mesh`, `--zero` and `--micro-batch`, as `job start`, `plan` and `apply` take
/// them.

#include "agents/wire/messages_fwd.h"
#include "app/commands/command.h"
#include "app/commands/session.h"
#include "engine/cluster/snapshot.h"

namespace tessera::app {

struct Placement {
  std::vector<ptc::DeviceId> devices;  // empty: chosen by the cluster
  std::optional<ptc::MeshShape> mesh;  // empty: chosen by the cluster
};

/// \error kInvalidArgument for a text that names no devices or no mesh, and for a mesh whose
///     product is not the number of devices (names both).
Result<Placement> readPlacement(const Arguments& arguments);

/// `base` with what --zero and --micro-batch say; nullopt where neither is given.
/// \error kInvalidArgument naming option and text
Result<std::optional<engine::StepOptions>> readStepOptions(const Arguments& arguments,
                                                           engine::StepOptions base = {});

/// Whether bytes may be passed on: --relay, else yes.
/// \error kInvalidArgument naming the option and the text
Result<bool> readRelay(const Arguments& arguments);

/// J and the placement of `plan` and `apply`. \error also for missing --devices.
Result<wire::PlanRequest> readPlanRequest(const Arguments& arguments);

/// Asks for the plan, after adding to `request` what --zero and --micro-batch say; the one that is
/// not given stays as the job runs now. \pre readPlanRequest(arguments) gave `request`
/// \error also kNotFound for a job that is not there
Result<engine::PlanSummary> askPlan(Session& session, const Arguments& arguments,
                                    wire::PlanRequest* request);

/// Busiest port, bounds and bandwidths, a line each.
std::string describeCertificate(const engine::PlanCertificate& certificate);
/// The plan as a person reads it.
std::string describePlan(const engine::PlanSummary& plan);

OptionSpec devicesOption(const std::string& fallback);
OptionSpec meshOption(const std::string& fallback);
OptionSpec pinOption();
OptionSpec relayOption();
OptionSpec zeroOption(const std::string& fallback);
OptionSpec microBatchOption(const std::string& fallback);
/// The options of which readPlanRequest and askPlan know, then `more`.
std::vector<OptionSpec> planOptions(std::vector<OptionSpec> more);

}  // namespace tessera::app
