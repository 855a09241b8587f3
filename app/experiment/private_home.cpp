// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/experiment/private_home.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "app/commands/paths.h"
#include "app/commands/process.h"
#include "engine/files/process_stat.h"
#include "engine/files/whole_file.h"

namespace tessera::app {
namespace {

namespace fs = std::filesystem;

constexpr char kPrefix[] = "tessera-experiment-";
constexpr char kOwner[] = "owner.json";
constexpr char kCluster[] = "experiment";

LocalClusterOptions clusterIn(const std::string& home) {
  LocalClusterOptions options;
  options.name = kCluster;
  options.home = home;
  options.oneHost = true;
  return options;
}

void clearHome(const std::string& home) {
  endPrivateCluster(clusterIn(home));
  std::error_code ignored;
  fs::remove_all(home, ignored);
}

bool isOurs(const fs::path& folder) {
  struct stat status = {};
  return lstat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
         status.st_uid == getuid();
}

/// The process that made the folder; nullopt if it has not written that yet.
std::optional<ProcessId> ownerOf(const fs::path& folder) {
  const auto text = engine::ReadWholeFile((folder / kOwner).string(), 4096);
  const auto json = nlohmann::json::parse(text.value_or(""), nullptr, false);
  if (!json.is_object() || !json.contains("pid") || !json["pid"].is_number_integer() ||
      !json.contains("start") || !json["start"].is_number_unsigned())
    return std::nullopt;
  return ProcessId{json["pid"].get<pid_t>(), json["start"].get<std::uint64_t>()};
}

void clearLeftovers(const fs::path& temporary) {
  std::error_code ignored;
  for (const auto& entry : entriesOf(temporary, ignored)) {
    if (!entry.path().filename().string().starts_with(kPrefix) || !isOurs(entry.path())) continue;
    const auto owner = ownerOf(entry.path());
    if (owner && !isAlive(*owner)) clearHome(entry.path().string());
  }
}

}  // namespace

Result<PrivateHome> PrivateHome::make() {
  std::error_code failure;
  const fs::path temporary = fs::temp_directory_path(failure);
  if (failure)
    return Unavailable(fmt::format("no folder for temporary files: {}", failure.message()));
  clearLeftovers(temporary);
  std::string path = (temporary / kPrefix).string() + "XXXXXX";
  if (mkdtemp(path.data()) == nullptr)
    return Unavailable(fmt::format("cannot make {}: {}", path, std::strerror(errno)));
  PrivateHome home(std::move(path));
  const auto stat = engine::ReadProcessStat(getpid());
  const nlohmann::json owner = {{"pid", getpid()}, {"start", stat ? stat->start : 0}};
  TESSERA_RETURN_IF_ERROR(
      engine::WriteWholeFile(home.path() + "/" + kOwner, owner.dump() + '\n', 0600));
  return home;
}

PrivateHome::PrivateHome(PrivateHome&& other) noexcept
    : m_path(std::exchange(other.m_path, std::string())) {}

PrivateHome::~PrivateHome() {
  if (!m_path.empty()) clearHome(m_path);
}

LocalClusterOptions PrivateHome::cluster(int nodes, int devices) const {
  LocalClusterOptions options = clusterIn(m_path);
  options.nodes = nodes;
  options.devices = devices;
  return options;
}

}  // namespace tessera::app
