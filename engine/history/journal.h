// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Keys and values on disk that survive a kill of the process and a loss of power. An agent keeps
/// its promises in it. Schema: resources/schema/journal.sql.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ptc/base/result.h"

namespace tessera::engine {

/// When a call returns without error, its effect is on disk (SQLite with synchronous = FULL). Keys
/// are text in bytewise order; values are bytes. Errors are those of Database::Open; each names the
/// file.
/// \threadsafety One thread owns it.
class Journal {
 public:
  /// Opens or creates the file.
  /// \error also kFailedPrecondition for a file of a newer version, naming both versions
  static Result<std::unique_ptr<Journal>> Open(const std::string& path);
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  ~Journal();

  Status Put(std::string_view key, std::string_view value);
  /// Stores `value` if the key has none. Atomic across connections to the file.
  /// \return the value of the key after the call
  Result<std::string> PutIfAbsent(std::string_view key, std::string_view value);
  Result<std::optional<std::string>> Get(std::string_view key);
  /// Succeeds if the key is absent.
  Status Erase(std::string_view key);
  /// Keys that begin with `prefix`, ascending, with their values.
  Result<std::vector<std::pair<std::string, std::string>>> List(std::string_view prefix);

 private:
  struct Impl;
  explicit Journal(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tessera::engine
