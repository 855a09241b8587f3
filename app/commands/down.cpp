// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `down`: stops clusters that `up` has started, with all their processes.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "app/commands/cluster_choice.h"
#include "app/commands/command.h"
#include "app/commands/confirm.h"
#include "app/commands/host_cluster.h"
#include "app/commands/json.h"
#include "app/commands/local_cluster.h"
#include "app/commands/session.h"
#include "app/commands/units.h"

namespace tessera::app {
namespace {

/// A registrar that answers later is one whose jobs are not known.
constexpr std::chrono::seconds kLookPatience{5};

/// The clusters to stop.
/// \error kInvalidArgument for a wrong line; kNotFound if there is none
Result<std::vector<std::string>> readNames(const Arguments& arguments) {
  if (arguments.has("all")) {
    if (arguments.has("cluster")) return InvalidArgument("--all and --cluster exclude each other");
    return localClusterNames();
  }
  TESSERA_TRY(std::string chosen, clusterOf(clusterFromCommandLine(arguments)));
  TESSERA_RETURN_IF_ERROR(checkName("cluster name", chosen));
  return std::vector<std::string>{std::move(chosen)};
}

/// What ends with the cluster: "job 'a' (running, step 12)" for each job whose state it holds.
std::vector<std::string> lossesOf(const std::string& name) {
  const auto profile = agents::LoadProfile(name);
  const auto snapshot = [&]() -> Result<engine::ClusterSnapshot> {
    TESSERA_TRY(agents::Profile found, profile);
    TESSERA_TRY(auto session, openSession(std::move(found)));
    return session.snapshot(kLookPatience);
  }();
  if (!snapshot)
    return {
        fmt::format("the jobs of '{}', which are not known: {}", name, snapshot.error().message)};
  std::vector<std::string> losses;
  for (const engine::JobStatus& job : snapshot->jobs)
    if (job.state == engine::JobState::kUnknown)
      losses.push_back(fmt::format("job '{}', which only its nodes know", job.name));
    else if (job.state != engine::JobState::kStopped && job.state != engine::JobState::kFailed)
      losses.push_back(
          fmt::format("job '{}' ({}, step {})", job.name, engine::ToString(job.state), job.step));
  return losses;
}

/// Asks before state of jobs is lost, and before `--all` stops any cluster.
/// \return as askBefore
std::optional<int> confirm(const Invocation& call, const std::vector<std::string>& names) {
  if (call.arguments.has("yes")) return std::nullopt;
  std::vector<std::string> running, losses;
  for (const std::string& name : names) {
    if (!isRunning(localClusterFolder(name))) continue;
    running.push_back(name);
    for (std::string& loss : lossesOf(name)) losses.push_back(std::move(loss));
  }
  if (running.empty() || (losses.empty() && !call.arguments.has("all"))) return std::nullopt;
  return askBefore(call, fmt::format("Stop {}{}", fmt::join(running, ", "),
                                     losses.empty() ? ""
                                                    : fmt::format(" and lose the state of {}",
                                                                  fmt::join(losses, ", "))));
}

int runDown(const Invocation& call) {
  const auto names = readNames(call.arguments);
  if (!names)
    return names.error().code == ErrorCode::kNotFound ? failed(names.error())
                                                      : wrongUsage(names.error());
  if (const auto refused = confirm(call, *names)) return *refused;
  int code = kDone;
  for (const std::string& name : *names) {
    const auto stopped = isHostCluster(name) ? stopHostCluster(name) : stopLocalCluster(name);
    if (!stopped) {
      code = failed(stopped.error());
    } else if (call.json) {
      printLine({{"name", name}, {"was_running", *stopped}});
    } else {
      fmt::print("cluster '{}' {}\n", name, *stopped ? "is down" : "was not running");
    }
  }
  return code;
}

}  // namespace

Command downCommand() {
  return {{.verb = "down",
           .summary = "Stop a cluster that `up` has started, and all its processes",
           .options = {{.name = "cluster",
                        .value = "CLUSTER",
                        .help = "cluster to stop",
                        .fallback = "as for other verbs"},
                       {.name = "all",
                        .value = "",
                        .help = "stop all clusters of `up`; asks if one runs"},
                       yesOption(),
                       quietOption()},
           .notes = {"The state of its jobs is lost: with a job that holds state, `down` asks. "
                     "Without a terminal --yes is needed then.",
                     "The history stays, and the next `up` of that name continues it: `tesseractl "
                     "history --cluster NAME` reads it meanwhile. The logs stay until that `up`.",
                     "A cluster of `up --hosts` is stopped over ssh, as it was started."},
           .examples = {"tesseractl down", "tesseractl down --cluster lab", "tesseractl down --yes",
                        "tesseractl down --all --yes"}},
          runDown};
}

}  // namespace tessera::app
