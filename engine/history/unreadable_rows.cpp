// SPDX-License-Identifier: Apache-2.0
#include "engine/history/unreadable_rows.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <system_error>

#include "ptc/base/utf8.h"

namespace tessera::engine {

Result<std::string> SetAside(DurableStore& journal, std::string_view file, const std::string& key,
                             const std::string& value, const Error& why) {
  const std::string kept = kUnreadable + key;
  TESSERA_RETURN_IF_ERROR(journal.Write(std::array{RowChange{kept, value}, RowChange{key, {}}}));
  return fmt::format("row '{}' of {} cannot be read and is kept as '{}': {}", key, file, kept,
                     why.message);
}

Result<std::int64_t> ParseNumberRow(const std::string& key, const std::string& value) {
  std::int64_t number = 0;
  const char* const end = value.data() + value.size();
  const auto [read, problem] = std::from_chars(value.data(), end, number);
  if (problem == std::errc() && read == end && number >= 0) return number;
  return DataLoss(fmt::format("journal row '{}' is '{}', not a number", key, Escaped(value)));
}

}  // namespace tessera::engine
