// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/unreadable_rows.h"

#include <fmt/format.h>

#include <charconv>
#include <system_error>

#include "ptc/base/utf8.h"

namespace tessera::agents {

Result<std::string> SetAside(engine::DurableStore& journal, const std::string& key,
                             const std::string& value, const Error& why) {
  const std::string kept = kUnreadable + key;
  TESSERA_RETURN_IF_ERROR(journal.Put(kept, value));
  TESSERA_RETURN_IF_ERROR(journal.Erase(key));
  return fmt::format("row '{}' of registrar.db cannot be read and is kept as '{}': {}", key, kept,
                     why.message);
}

Result<std::int64_t> ParseNumberRow(const std::string& key, const std::string& value) {
  std::int64_t number = 0;
  const char* const end = value.data() + value.size();
  const auto [read, problem] = std::from_chars(value.data(), end, number);
  if (problem == std::errc() && read == end && number >= 0) return number;
  return DataLoss(fmt::format("journal row '{}' is '{}', not a number", key, Escaped(value)));
}

}  // namespace tessera::agents
