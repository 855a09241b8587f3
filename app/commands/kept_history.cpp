// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/kept_history.h"

#include <fmt/format.h>

#include <filesystem>

#include "app/commands/paths.h"
#include "engine/history/history.h"

namespace tessera::app {
namespace {

namespace fs = std::filesystem;

/// As the registrar names its history, copies of older versions and damaged ones included.
constexpr const char* kHistoryFile = "history.db";

bool isHistory(const fs::path& file) {
  return file.filename().string().starts_with(kHistoryFile);
}

/// Moves the history of a simulation, with the files that SQLite keeps next to it.
Status setAside(const fs::path& history) {
  for (const char* suffix : {"", "-wal", "-shm"}) {
    const fs::path from = history.string() + suffix, to = history.string() + ".last" + suffix;
    std::error_code failure, ignored;
    fs::remove(to, ignored);
    if (fs::exists(from, ignored)) fs::rename(from, to, failure);
    if (failure)
      return Unavailable(fmt::format("cannot move {} to {}: {}", from.string(), to.string(),
                                     failure.message()));
  }
  return OkStatus();
}

}  // namespace

Status clearClusterFolder(const std::string& directory, bool isSimulated) {
  std::error_code failure;
  const fs::path history = fs::path(directory) / "n0" / kHistoryFile;
  if (fs::exists(history, failure)) {
    // The registrar treats a file that cannot be read.
    const auto kept = engine::History::OpenReadOnly(history.string());
    const auto hardware = kept ? (*kept)->Simulated() : kept.error();
    if (hardware && *hardware) {
      TESSERA_RETURN_IF_ERROR(setAside(history));
    } else if (isSimulated && hardware) {
      return FailedPrecondition(
          fmt::format("{} is the history of a cluster that was not simulated; choose another "
                      "--cluster for the simulation, or move the file away",
                      history.string()));
    }
  }
  failure.clear();
  for (const auto& entry : entriesOf(directory, failure)) {
    bool keeps = false;
    std::error_code ignored;
    if (entry.is_directory(ignored) && !entry.is_symlink(ignored))
      for (const auto& file : entriesOf(entry.path(), ignored)) {
        keeps = keeps || isHistory(file.path());
        if (!isHistory(file.path())) fs::remove_all(file.path(), ignored);
      }
    if (!keeps) fs::remove_all(entry.path(), ignored);
  }
  return OkStatus();
}

std::optional<std::string> keptHistory(const std::string& directory) {
  std::optional<fs::path> newest;
  fs::file_time_type written{};
  std::error_code ignored;
  for (const auto& entry : entriesOf(directory, ignored)) {
    const fs::path history = entry.path() / kHistoryFile;
    std::error_code missing;
    const auto time = fs::last_write_time(history, missing);
    if (missing || (newest && time <= written)) continue;
    newest = history;
    written = time;
  }
  return newest ? std::optional(newest->string()) : std::nullopt;
}

}  // namespace tessera::app
