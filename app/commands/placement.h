// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// `--devices`, `--mesh`, `--zero` and `--micro-batch` of `job start`, `plan` and `apply`.

#include <chrono>
#include <string>

#include "agents/wire/messages_fwd.h"
#include "app/commands/command.h"
#include "app/commands/session.h"
#include "engine/cluster/snapshot.h"
#include "ptc/mesh.h"

namespace tessera::app {

struct Placement {
  std::vector<ptc::DeviceId> devices;  // empty: chosen by the cluster
  std::optional<ptc::MeshShape> mesh;  // empty: chosen by the cluster
};

/// \error kInvalidArgument for wrong devices or a wrong mesh, and for a mesh whose product is not
///     the number of devices (names both).
Result<Placement> readPlacement(const Arguments& arguments);

/// `base` with --zero and --micro-batch applied; nullopt if neither is given.
/// \error kInvalidArgument naming option and text
Result<std::optional<engine::StepOptions>> readStepOptions(const Arguments& arguments,
                                                           engine::StepOptions base = {});

/// Whether the plan may relay: --relay, else yes.
bool readRelay(const Arguments& arguments);

/// The job and placement of `plan` and `apply`.
/// \error kInvalidArgument as readPlacement, and if no option requests a change
Result<wire::PlanRequest> readPlanRequest(const Arguments& arguments);

/// Requests the plan. Fills in from the running job what is not given: --devices and, if one of
/// them is given, the other one of --zero and --micro-batch.
/// \pre readPlanRequest(arguments) returned `request`
/// \error kNotFound for an unknown job; kInvalidArgument for a --mesh that needs more GPUs than the
///     job has and are idle
Result<engine::PlanSummary> askPlan(Session& session, const Arguments& arguments,
                                    wire::PlanRequest* request);

/// Busiest port, bounds and bandwidths, one line each.
std::string describeCertificate(const engine::PlanCertificate& certificate);
/// The plan as text.
std::string describePlan(const engine::PlanSummary& plan);
/// The message of askProgram, how long it may take, and what its reply says.
wire::Request checkMeshMessage(const std::string& job, const ptc::MeshShape& mesh);
inline constexpr std::chrono::seconds kCheckMeshTimeout{65};  // longer than that of the registrar
Result<std::string> notAskedOf(const wire::Reply& reply);
/// Asks the program of the job whether it can run on the planned mesh, as the preparation of the
/// change does. Takes as long as the program needs to import its libraries, a minute at most.
/// \return why it could not be asked; empty: it can run there, or there is no program to ask
/// \error kFailedPrecondition with the program's reason if it cannot
Result<std::string> askProgram(Session& session, const engine::PlanSummary& plan);
/// The line of a plan for what askProgram returned; empty if that is empty.
std::string describeNotAsked(const std::string& why);

OptionSpec devicesOption(std::string fallback);
OptionSpec meshOption(std::string fallback);
OptionSpec pinOption();
OptionSpec useAllOption();
OptionSpec relayOption();
OptionSpec zeroOption(std::string fallback);
OptionSpec microBatchOption(std::string fallback);
/// The options that readPlanRequest and askPlan read, then `more`.
std::vector<OptionSpec> planOptions(std::vector<OptionSpec> more);

}  // namespace tessera::app
