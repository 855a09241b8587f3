// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `down`: stops clusters that `up` has started, with all their processes.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/commands/cluster_choice.h"
#include "app/commands/command.h"
#include "app/commands/confirm.h"
#include "app/commands/host_cluster.h"
#include "app/commands/json.h"
#include "app/commands/local_cluster.h"
#include "app/commands/units.h"

namespace tessera::app {
namespace {

/// The clusters to stop.
/// \error kInvalidArgument for a wrong line; kNotFound if there is none
Result<std::vector<std::string>> readNames(const Arguments& arguments) {
  if (arguments.has("all")) {
    if (arguments.has("cluster")) return InvalidArgument("--all and --cluster exclude each other");
    return localClusterNames();
  }
  const std::vector<std::string> names = localClusterNames();
  std::string chosen = clusterFromCommandLine(arguments);
  const std::string current = currentProfile();
  if (chosen.empty() && std::ranges::count(names, current) > 0) chosen = current;
  if (!chosen.empty()) {
    TESSERA_RETURN_IF_ERROR(checkName("cluster name", chosen));
    return std::vector<std::string>{chosen};
  }
  if (names.empty()) return NotFound("no local cluster exists");
  return names.size() == 1 ? names : std::vector<std::string>{"local"};
}

int runDown(const Invocation& call) {
  const auto names = readNames(call.arguments);
  if (!names)
    return names.error().code == ErrorCode::kNotFound ? failed(names.error())
                                                      : wrongUsage(names.error());
  if (call.arguments.has("all")) {
    std::vector<std::string> running;
    for (const std::string& name : *names)
      if (isRunning(localClusterFolder(name))) running.push_back(name);
    if (!running.empty())
      if (const auto refused =
              askBefore(call, fmt::format("Stop {} and lose the state of all their jobs",
                                          fmt::join(running, ", "))))
        return *refused;
  }
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
                        .value = "NAME",
                        .help = "cluster to stop",
                        .fallback = "as for other verbs, else the only one of `up`"},
                       {.name = "all",
                        .value = "",
                        .help = "stop all clusters of `up`; asks before it stops a running one"},
                       yesOption(),
                       quietOption()},
           .notes = {"The state of its jobs is lost. History and logs stay in its folder until the "
                     "next `up` of that name.",
                     "A cluster of `up --hosts` is stopped over ssh, as it was started."},
           .examples = {"tesseractl down", "tesseractl down --cluster lab",
                        "tesseractl down --all --yes"}},
          runDown};
}

}  // namespace tessera::app
