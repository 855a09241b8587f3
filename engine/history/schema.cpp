// SPDX-License-Identifier: Apache-2.0
#include "engine/history/schema.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "ptc/base/check.h"

namespace tessera::engine {
namespace {

constexpr std::string_view kMark = "-- version ";

/// Element i of the result is the section of version i + 1.
/// \pre the text, which is part of the program, is well formed
std::vector<std::string> Sections(std::string_view schema) {
  std::vector<std::string> sections;
  while (!schema.empty()) {
    const std::size_t end = schema.find('\n');
    const std::string_view line = schema.substr(0, end);
    schema.remove_prefix(end == std::string_view::npos ? schema.size() : end + 1);
    if (line.starts_with(kMark)) {
      const std::string_view digits = line.substr(kMark.size());
      std::size_t version = 0;
      std::from_chars(digits.data(), digits.data() + digits.size(), version);
      TESSERA_CHECK(version == sections.size() + 1);
      sections.emplace_back();
    } else if (!sections.empty()) {
      sections.back().append(line).push_back('\n');
    }
  }
  return sections;
}

/// The version of the database, checked against the versions that this program knows.
Result<std::int64_t> VersionOf(Database& database, std::int64_t newest) {
  TESSERA_TRY(const std::int64_t version, database.ReadInt("PRAGMA user_version"));
  if (version < 0 || version > newest) {
    return FailedPrecondition(fmt::format("{}: schema version {}, this program knows up to {}",
                                          database.path(), version, newest));
  }
  if (version == 0) {
    TESSERA_TRY(const std::int64_t tables, database.ReadInt("SELECT count(*) FROM sqlite_master"));
    if (tables > 0) {
      return FailedPrecondition(
          fmt::format("{}: a database of another program: {} tables and indices, schema version 0",
                      database.path(), tables));
    }
  }
  return version;
}

Status BackUp(Database& database, std::int64_t version) {
  const std::string path = fmt::format("{}.v{}.bak", database.path(), version);
  for (int number = 1;; ++number) {
    Status copied = database.BackupTo(number == 1 ? path : fmt::format("{}.{}", path, number));
    if (copied || copied.error().code != ErrorCode::kAlreadyExists) return copied;
  }
}

}  // namespace

Status CheckWhole(Database& database) {
  TESSERA_TRY(auto check, database.Prepare("PRAGMA quick_check(1)"));
  TESSERA_TRY(const bool row, check.Step());
  if (!row || check.Text(0) != "ok") {
    return DataLoss(database.path() + ": " +
                    (row ? check.Text(0) : "the integrity check returned no row"));
  }
  return OkStatus();
}

Result<std::string> MoveAside(const std::string& path) {
  std::string bad = path + ".bad";
  std::error_code failure;
  for (int number = 2; std::filesystem::exists(bad, failure); ++number) {
    bad = fmt::format("{}.bad.{}", path, number);
  }
  std::filesystem::rename(path, bad, failure);
  if (failure) return Unavailable(fmt::format("{}: {}", bad, failure.message()));
  for (const char* suffix : {"-wal", "-shm"}) {
    std::filesystem::rename(path + suffix, bad + suffix, failure);  // may not exist
  }
  return bad;
}

Status Migrate(Database& database, std::string_view schema, bool keep_backup) {
  const std::vector<std::string> sections = Sections(schema);
  const std::int64_t newest = std::ssize(sections);
  TESSERA_TRY(const std::int64_t found, VersionOf(database, newest));
  if (found == newest) return OkStatus();
  if (found > 0 && keep_backup) {
    TESSERA_RETURN_IF_ERROR(BackUp(database, found)
                                .Context(fmt::format("{}: no backup of schema version {}, so it "
                                                     "stays as it is",
                                                     database.path(), found)));
  }
  Status migrated = database.InTransaction([&]() -> Status {
    // Checked again under the write lock, because another process may have been faster.
    TESSERA_TRY(const std::int64_t version, VersionOf(database, newest));
    for (auto i = static_cast<std::size_t>(version); i < sections.size(); ++i) {
      TESSERA_RETURN_IF_ERROR(database.Execute(sections[i]));
    }
    TESSERA_RETURN_IF_ERROR(database.Execute(fmt::format("PRAGMA user_version = {}", newest)));
    return found > 0 ? CheckWhole(database) : OkStatus();
  });
  if (!migrated && found > 0) {
    return std::move(migrated).Context(
        fmt::format("from schema version {} to {}, the file is as before", found, newest));
  }
  return migrated;
}

}  // namespace tessera::engine
