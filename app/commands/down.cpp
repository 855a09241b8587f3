// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `down`: ends local clusters and whatever they started.

#include <fmt/format.h>

#include "app/commands/command.h"
#include "app/commands/json.h"
#include "app/commands/local_cluster.h"
#include "app/commands/units.h"

namespace tessera::app {
namespace {

/// The clusters meant, or the error of a wrong line.
Result<std::vector<std::string>> readNames(const Arguments& arguments) {
  const auto name = arguments.value("name");
  if (arguments.has("all")) {
    if (name) return InvalidArgument("--all and --name exclude each other");
    return localClusterNames();
  }
  if (name) {
    TESSERA_RETURN_IF_ERROR(checkName("cluster name", *name));
    return std::vector<std::string>{*name};
  }
  return std::vector<std::string>{};
}

int run(const Invocation& call) {
  auto names = readNames(call.arguments);
  if (!names) return wrongUsage(names.error());
  if (names->empty() && !call.arguments.has("all")) {
    *names = localClusterNames();
    if (names->size() > 1) *names = {"local"};
    if (names->empty()) return failed(NotFound("no local cluster exists"));
  }
  int code = kDone;
  for (const std::string& name : *names) {
    const auto stopped = stopLocalCluster(name);
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
  return {{"down",
           "stops a local cluster",
           {},
           {{"name", "NAME", "which one (default: the only one there is, else `local`)"},
            {"all", "", "all of them"}},
           {"History and logs stay in its folder until the next `up` of that name."}},
          run};
}

}  // namespace tessera::app
