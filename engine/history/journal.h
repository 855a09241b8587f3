// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The durable store of an agent, in which it keeps its promises: an SQLite file. Schema:
/// resources/schema/journal.sql.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/history/durable_store.h"
#include "ptc/base/result.h"

namespace tessera::engine {

/// Durable by synchronous = FULL. Errors are those of Database::Open; each names the file.
/// PutIfAbsent is atomic across connections to the file.
/// \threadsafety One thread owns it.
class Journal : public DurableStore {
 public:
  /// Opens or creates the file.
  /// \error also kFailedPrecondition for a file of a newer version, naming both versions
  static Result<std::unique_ptr<Journal>> Open(const std::string& path);
  /// Checks the whole file, which may be missing.
  /// \error kDataLoss naming the file and what is damaged
  static Status CheckFile(const std::string& path);
  /// Checks the whole file first. A damaged one is renamed, and a new one is created.
  /// \param note is set to what was damaged and the new name of the file; else to nothing
  static Result<std::unique_ptr<Journal>> OpenOrQuarantine(const std::string& path,
                                                           std::string* note);
  ~Journal() override;

  /// Keeps kReserve bytes beside the file (PATH.reserve). The first write that does not fit gives
  /// them up.
  Status Reserve() override;
  static constexpr std::int64_t kReserve = 256 << 10;

  Status CheckPlace() const override;

  Status Write(std::span<const RowChange> changes) override;
  Result<std::string> PutIfAbsent(std::string_view key, std::string_view value) override;
  Result<std::optional<std::string>> Get(std::string_view key) override;
  Result<std::vector<std::pair<std::string, std::string>>> List(std::string_view prefix) override;

 private:
  struct Impl;
  explicit Journal(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tessera::engine
