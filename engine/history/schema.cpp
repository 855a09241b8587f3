// SPDX-License-Identifier: Apache-2.0
#include "engine/history/schema.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <string>
#include <vector>

#include "ptc/base/check.h"

namespace tessera::engine {
namespace {

constexpr std::string_view kMark = "-- version ";

/// Section i of the result is that of version i + 1. \pre the text is well formed: it is our own
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

}  // namespace

Status Migrate(Database& database, std::string_view schema) {
  const std::vector<std::string> sections = Sections(schema);
  return database.InTransaction([&]() -> Status {
    TESSERA_TRY(auto query, database.Prepare("PRAGMA user_version"));
    TESSERA_TRY(const bool row, query.Step());
    const std::int64_t version = row ? query.Int(0) : 0;
    query.Reset();
    const std::int64_t newest = std::ssize(sections);
    if (version < 0 || version > newest) {
      return FailedPrecondition(fmt::format("{}: schema version {}, this program knows up to {}",
                                            database.path(), version, newest));
    }
    if (version == newest) return OkStatus();
    for (auto i = static_cast<std::size_t>(version); i < sections.size(); ++i) {
      TESSERA_RETURN_IF_ERROR(database.Execute(sections[i]));
    }
    return database.Execute(fmt::format("PRAGMA user_version = {}", newest));
  });
}

}  // namespace tessera::engine
