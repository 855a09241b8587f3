// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/cluster_choice.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "engine/files/tessera_home.h"
#include "engine/files/whole_file.h"

namespace tessera::app {
namespace {

std::string currentProfileFile() { return engine::TesseraHome() + "/current-profile"; }

std::string clusterFromEnvironment() {
  const char* name = std::getenv("TESSERA_CLUSTER");
  return name == nullptr ? "" : name;
}

}  // namespace

std::string clusterFromCommandLine(const Arguments& arguments) {
  return arguments.valueOr("cluster", clusterFromEnvironment());
}

std::string chosenCluster(const std::string& given) {
  if (!given.empty()) return given;
  const std::string named = clusterFromEnvironment();
  return named.empty() ? currentProfile() : named;
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
