// SPDX-License-Identifier: Apache-2.0
#include "agents/node/job_files.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "engine/files/whole_file.h"

namespace tessera::agents {
namespace {
std::string FolderOf(const std::string& directory, const std::string& job) {
  return directory + "/jobs/" + job;
}

Status MakeFolder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error) return OkStatus();
  return Unavailable(fmt::format("cannot make '{}': {}", folder, error.message()));
}
}  // namespace

std::string SettingsPath(const std::string& directory, const std::string& job) {
  return FolderOf(directory, job) + "/settings.json";
}

std::string LayoutPath(const std::string& directory, const std::string& job) {
  return FolderOf(directory, job) + "/layout.json";
}

Status WriteJobFiles(const std::string& directory, const std::string& job,
                     const std::string& settings, const ptc::Layout& layout) {
  TESSERA_RETURN_IF_ERROR(MakeFolder(FolderOf(directory, job)));
  // URLs of data may have passwords in them. Ranks run as the user of the agent.
  TESSERA_RETURN_IF_ERROR(engine::WriteWholeFile(SettingsPath(directory, job), settings, 0600));
  return engine::WriteWholeFile(LayoutPath(directory, job), ptc::ToJson(layout), 0644);
}

Result<std::string> WriteViewFile(const std::string& directory, const std::string& job,
                                  std::int32_t device, const std::string& view) {
  const std::string folder = FolderOf(directory, job);
  TESSERA_RETURN_IF_ERROR(MakeFolder(folder));
  std::string path = fmt::format("{}/view-g{}.json", folder, device);
  TESSERA_RETURN_IF_ERROR(engine::WriteWholeFile(path, view, 0644));
  return path;
}

void RemoveJobFiles(const std::string& directory, const std::string& job) {
  std::error_code ignored;
  std::filesystem::remove_all(FolderOf(directory, job), ignored);
}

}  // namespace tessera::agents
