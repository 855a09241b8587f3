// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/cluster_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "app/commands/local_cluster.h"
#include "engine/files/tessera_home.h"
#include "engine/files/whole_file.h"

namespace tessera::app {
namespace {

/// The cluster of `up` without a name.
const std::string kLocalName = "local";

std::string currentProfileFile() { return engine::TesseraHome() + "/current-profile"; }

std::string clusterFromEnvironment() {
  const char* name = std::getenv("TESSERA_CLUSTER");
  return name == nullptr ? "" : name;
}

}  // namespace

std::string clusterFromCommandLine(const Arguments& arguments) {
  return arguments.valueOr("cluster", clusterFromEnvironment());
}

Result<std::string> clusterOf(const std::string& given) {
  if (!given.empty()) return given;
  if (std::string named = clusterFromEnvironment(); !named.empty()) return named;
  if (std::string current = currentProfile(); !current.empty()) return current;
  std::vector<std::string> names = profileNames();
  const std::vector<std::string> local = localClusterNames();
  for (const std::string& name : local)  // one whose `up` was killed has no profile
    if (std::ranges::count(names, name) == 0 && isRunning(localClusterFolder(name)))
      names.push_back(name);
  if (names.empty()) names = local;
  if (names.empty()) return NotFound("no cluster is known; `tesseractl up` starts a local one");
  if (names.size() == 1) return names.front();
  if (std::ranges::count(names, kLocalName) > 0) return kLocalName;
  return NotFound(fmt::format(
      "{} profiles are known and none is named local; choose one with --cluster or `tesseractl "
      "profile use`",
      names.size()));
}

std::string currentProfile() {
  std::string name = engine::ReadWholeFile(currentProfileFile()).value_or("");
  while (name.ends_with('\n')) name.pop_back();
  return name;
}

Status setCurrentProfile(const std::string& name) {
  std::error_code failure;
  if (name.empty()) {
    std::filesystem::remove(currentProfileFile(), failure);
    if (!failure) return OkStatus();
    return Unavailable(
        fmt::format("cannot remove {}: {}", currentProfileFile(), failure.message()));
  }
  return engine::WriteWholeFile(currentProfileFile(), name + "\n", 0600);
}

}  // namespace tessera::app
