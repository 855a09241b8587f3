// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `plan`: a dry run on a running job.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "agents/wire/tessera/wire/control.pb.h"
#include "app/commands/command.h"
#include "app/commands/json.h"
#include "app/commands/placement.h"
#include "app/commands/plan_offline.h"
#include "app/commands/proposal.h"

namespace tessera::app {
namespace {

constexpr std::int64_t kMostPlanCandidates = 64;

int runPlan(const Invocation& call) {
  const bool isOffline = isOfflinePlan(call.arguments);
  if (isOffline && call.arguments.has("move-memory"))
    return wrongUsage(InvalidArgument("--move-memory needs JOB, whose GPUs have the memory"));
  if (isOffline) return planOffline(call);
  if (call.arguments.word(0).empty())
    return wrongUsage(
        InvalidArgument("`plan` needs JOB, or --model or --tensors without a cluster"));
  for (const OptionSpec& option : offlinePlanOptions())
    if (call.arguments.has(option.name))
      return wrongUsage(InvalidArgument(
          fmt::format("--{} needs --model or --tensors: it is not for a job", option.name)));
  TESSERA_OR_USAGE(auto request, readPlanRequest(call.arguments));
  TESSERA_OR_USAGE(const auto numCandidates,
                   call.arguments.integer("candidates", 0, 1, kMostPlanCandidates));
  TESSERA_OR_FAILED(auto session, openSession(call));
  TESSERA_OR_FAILED(const auto plan, askPlan(session, call.arguments, &request));
  TESSERA_OR_FAILED(const std::string notAsked, askProgram(session, plan));
  std::optional<engine::Proposal> proposal;
  std::optional<double> tokens;
  if (numCandidates > 0) {
    std::vector<ptc::DeviceId> devices = plan.to_devices;
    devices.insert(devices.end(), plan.idle.begin(), plan.idle.end());
    TESSERA_OR_FAILED(auto proposed, askProposal(session, plan.job, devices, numCandidates));
    proposal = std::move(proposed);
    TESSERA_OR_FAILED(const auto snapshot, session.snapshot());
    if (const auto job = findJob(snapshot, plan.job)) tokens = tokensOfStep(*job);
  }
  if (call.json) {
    Json json = toJson(plan);
    json["program_not_asked"] = notAsked.empty() ? Json(nullptr) : Json(notAsked);
    if (proposal) json["candidates"] = toJson(*proposal)["candidates"];
    printLine(json);
  } else {
    fmt::print("{}{}", describePlan(plan), describeNotAsked(notAsked));
    if (proposal) fmt::print("\n{}", describeProposal(*proposal, tokens));
  }
  return kDone;
}

}  // namespace

Command planCommand() {
  std::vector<OptionSpec> options =
      planOptions({{.name = "candidates",
                    .value = "N",
                    .help = "also list the N best configurations of these GPUs"}});
  for (OptionSpec& option : offlinePlanOptions()) options.push_back(std::move(option));
  return {
      {.verb = "plan",
       .summary = "Show what it would cost to move a job; nothing is changed",
       .words = {{"JOB", "name of the job; none with --model or --tensors", false}},
       .options = std::move(options),
       .notes = {"The program of the job is asked whether it can run on the mesh, which takes as "
                 "long as it needs to import its libraries. If it cannot be asked, a line says "
                 "why.",
                 "With --model or --tensors the plan needs no cluster. --from and --to are then "
                 "the two meshes, optionally with devices: \"dp=2,tp=8 on 2x8\"."},
       .examples = {"tesseractl plan gpt-mini --devices 2x4 --mesh dp=2,tp=2,pp=2",
                    "tesseractl plan gpt-mini --mesh tp=4",
                    "tesseractl plan --model llama-3-8b --from \"dp=2,tp=8 on 2x8\" "
                    "--to \"dp=1,tp=8\""}},
      runPlan};
}

}  // namespace tessera::app
