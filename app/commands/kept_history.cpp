// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/kept_history.h"

#include <fmt/format.h>

#include <filesystem>

#include "agents/registrar/measured_rows.h"
#include "app/commands/paths.h"
#include "engine/history/history.h"
#include "engine/history/journal.h"

namespace tessera::app {
namespace {

namespace fs = std::filesystem;

/// As the registrar names its history, copies of older versions and damaged ones included.
constexpr const char* kHistoryFile = "history.db";
constexpr const char* kJournalFile = "registrar.db";

bool isHistory(const fs::path& file) { return file.filename().string().starts_with(kHistoryFile); }

/// Whether it is the journal of the first registrar, or of one after a move.
bool isJournal(const fs::path& file) {
  const std::string name = file.filename().string();
  return name.starts_with("registrar") && name.ends_with(".db");
}

/// The file in the node folders of `directory` that was written last: a registrar that has moved
/// leaves its own on its earlier node.
template <typename Predicate>
std::optional<fs::path> newestOf(const fs::path& directory, Predicate is_wanted) {
  std::optional<fs::path> newest;
  fs::file_time_type written{};
  std::error_code ignored;
  for (const auto& node : entriesOf(directory.string(), ignored)) {
    std::error_code none;
    for (const auto& file : entriesOf(node.path().string(), none)) {
      if (!is_wanted(file.path())) continue;
      std::error_code missing;
      const auto time = fs::last_write_time(file.path(), missing);
      if (missing || (newest && time <= written)) continue;
      newest = file.path();
      written = time;
    }
  }
  return newest;
}

/// Moves the history of a simulation, with the files that SQLite keeps next to it.
Status setAside(const fs::path& history) {
  for (const char* suffix : {"", "-wal", "-shm"}) {
    const fs::path from = history.string() + suffix, to = history.string() + ".last" + suffix;
    std::error_code failure, ignored;
    fs::remove(to, ignored);
    if (fs::exists(from, ignored)) fs::rename(from, to, failure);
    if (failure)
      return Unavailable(
          fmt::format("cannot move {} to {}: {}", from.string(), to.string(), failure.message()));
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

std::vector<engine::RowChange> keptMeasurements(const std::string& directory) {
  const std::optional<fs::path> newest = newestOf(directory, isJournal);
  if (!newest) return {};
  const auto journal = engine::Journal::Open(newest->string());
  if (!journal) return {};
  std::vector<engine::RowChange> rows;
  for (const char* key : agents::kMeasuredRows) {
    const auto value = (*journal)->Get(key);
    if (value && *value) rows.push_back({key, **value});
  }
  return rows;
}

Status writeMeasurements(const std::string& node, const std::vector<engine::RowChange>& rows) {
  if (rows.empty()) return OkStatus();
  TESSERA_TRY(const auto journal, engine::Journal::Open((fs::path(node) / kJournalFile).string()));
  return journal->Write(rows);
}

std::optional<std::string> keptHistory(const std::string& directory) {
  const auto newest =
      newestOf(directory, [](const fs::path& file) { return file.filename() == kHistoryFile; });
  return newest ? std::optional(newest->string()) : std::nullopt;
}

}  // namespace tessera::app
