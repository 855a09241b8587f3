// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Keys and values on disk that survive the kill of the process and the loss of power: what an
/// agent has promised. Schema: resources/schema/journal.sql.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ptc/base/result.h"

namespace tessera::engine {

/// One thread owns it. When a call returns without error its effect is on disk (SQLite with
/// synchronous = FULL). Keys are text, ordered bytewise; values are bytes.
/// Errors are those of Database::Open; each names the file.
class Journal {
 public:
  /// \error also kFailedPrecondition for a file of a newer version, naming both versions.
  static Result<std::unique_ptr<Journal>> Open(const std::string& path);
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  ~Journal();

  Status Put(std::string_view key, std::string_view value);
  /// Stores `value` only where the key has none. \return the value that the key has afterwards.
  /// Atomic also against other connections to the same file.
  Result<std::string> PutIfAbsent(std::string_view key, std::string_view value);
  Result<std::optional<std::string>> Get(std::string_view key);
  /// No error where the key is absent.
  Status Erase(std::string_view key);
  /// Keys that begin with `prefix`, ascending, with their values.
  Result<std::vector<std::pair<std::string, std::string>>> List(std::string_view prefix);

 private:
  struct Impl;
  explicit Journal(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tessera::engine
