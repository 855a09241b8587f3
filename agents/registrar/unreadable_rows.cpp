// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/unreadable_rows.h"

#include <fmt/format.h>

namespace tessera::agents {

Result<std::string> SetAside(engine::DurableStore& journal, const std::string& key,
                             const std::string& value, const Error& why) {
  const std::string kept = kUnreadable + key;
  TESSERA_RETURN_IF_ERROR(journal.Put(kept, value));
  TESSERA_RETURN_IF_ERROR(journal.Erase(key));
  return fmt::format("row '{}' of registrar.db cannot be read and is kept as '{}': {}", key, kept,
                     why.message);
}

}  // namespace tessera::agents
