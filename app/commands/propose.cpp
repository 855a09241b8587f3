// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `propose`: the configurations that a job could run on a set of devices.

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/commands/command.h"
#include "app/commands/json.h"
#include "app/commands/placement.h"
#include "app/commands/proposal.h"
#include "app/commands/units.h"
#include "ptc/base/result.h"

namespace tessera::app {
namespace {

constexpr std::int64_t kMostCandidates = 64;

/// Idle devices and the job's own.
std::vector<ptc::DeviceId> usableBy(const std::string& job,
                                    const engine::ClusterSnapshot& snapshot) {
  std::vector<ptc::DeviceId> devices;
  for (const engine::NodeStatus& node : snapshot.nodes) {
    if (node.state != engine::NodeState::kAlive) continue;
    for (const engine::DeviceStatus& device : node.devices) {
      const bool free = device.job.empty() && !device.joining;
      if (!device.failed && (free || device.job == job)) devices.push_back(device.id);
    }
  }
  return devices;
}

int runPropose(const Invocation& call) {
  const std::string job = call.arguments.word(0);
  if (const auto good = checkName("job", job); !good) return wrongUsage(good.error());
  TESSERA_OR_USAGE(auto placement, readPlacement(call.arguments));
  TESSERA_OR_USAGE(const auto limit, call.arguments.integer("limit", 8, 1, kMostCandidates));
  TESSERA_OR_FAILED(auto session, openSession(call));
  TESSERA_OR_FAILED(const auto snapshot, session.snapshot());
  TESSERA_OR_FAILED(const auto status, findJob(snapshot, job));
  if (placement.devices.empty()) placement.devices = usableBy(job, snapshot);
  TESSERA_OR_FAILED(const auto proposal, askProposal(session, job, placement.devices, limit));
  if (call.json)
    printLine(toJson(proposal));
  else
    fmt::print("{}", describeProposal(proposal, tokensOfStep(status)));
  return kDone;
}

}  // namespace

Command proposeCommand() {
  return {
      {.verb = "propose",
       .summary = "List the configurations that a job could run, the best first",
       .words = {{"JOB", "name of the job"}},
       .options = {devicesOption("the job's GPUs and all idle ones"),
                   limitOption("list at most N configurations", "8")},
       .notes =
           {"The recommended one keeps tp and pp and changes dp; GPUs that it cannot use stay "
            "idle. After it come those that use all GPUs; the fastest one, which may leave GPUs "
            "idle, and the one that moves least are named. "
            "Step times are estimates: `job tune` measures them, `probe` calibrates them."},
       .examples = {"tesseractl propose gpt-mini",
                    "tesseractl propose gpt-mini --devices 2x4 --limit 3"}},
      runPropose};
}

}  // namespace tessera::app
