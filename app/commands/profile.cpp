// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `profile list` and `profile remove`: the clusters that are known here.

#include <fmt/format.h>

#include <filesystem>

#include "app/commands/command.h"
#include "app/commands/json.h"
#include "app/commands/local_cluster.h"
#include "app/commands/units.h"

namespace tessera::app {
namespace {

std::string stateOf(const agents::Profile& profile) {
  if (profile.directory.empty()) return "remote";
  return isRunning(profile.directory) ? "running" : "stopped";
}

int runList(const Invocation& call) {
  std::vector<std::vector<std::string>> rows = {{"profile", "state", "registrar"}};
  Json json = Json::array();
  int code = kDone;
  for (const std::string& name : profileNames()) {
    const auto profile = agents::LoadProfile(profilePath(name));
    if (!profile) {
      code = failed(profile.error());
      continue;
    }
    const std::string state = stateOf(*profile);
    rows.push_back({profile->name, state, profile->registrar_endpoint});
    json.push_back({{"name", profile->name},
                    {"state", state},
                    {"registrar", profile->registrar_endpoint},
                    {"directory", profile->directory}});
  }
  if (call.json)
    printLine(json);
  else
    fmt::print("{}", formatTable(rows));
  return code;
}

int runRemove(const Invocation& call) {
  const std::string name = call.arguments.word(0);
  if (const auto good = checkName("profile", name); !good) return wrongUsage(good.error());
  const auto profile = agents::LoadProfile(profilePath(name));
  if (!profile && profile.error().code == ErrorCode::kNotFound)
    return failed(NotFound(fmt::format("no profile is named '{}'", name)));
  if (profile && stateOf(*profile) == "running")
    return failed(FailedPrecondition(
        fmt::format("cluster '{}' is running; `tesseractl down --name {}` stops it", name, name)));
  std::error_code failure;
  std::filesystem::remove(profilePath(name), failure);
  if (failure)
    return failed(
        Unavailable(fmt::format("cannot remove {}: {}", profilePath(name), failure.message())));
  if (call.json)
    printLine({{"removed", name}});
  else
    fmt::print("profile '{}' is removed\n", name);
  return kDone;
}

}  // namespace

Command profileListCommand() {
  return {{"profile list", "lists the clusters that are known here", {}, {}, {}}, runList};
}

Command profileRemoveCommand() {
  return {
      {"profile remove", "forgets a cluster that does not run here", {{"NAME", "profile"}}, {}, {}},
      runRemove};
}

}  // namespace tessera::app
