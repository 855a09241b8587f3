// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Keys and values that survive a kill of the process and a loss of power: the interface of a
/// journal. Journal implements it on disk.

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ptc/base/result.h"

namespace tessera::engine {

/// A new value of a row. nullopt erases the row, if there is one.
struct RowChange {
  std::string key;
  std::optional<std::string> value;
};

/// When a call returns without error, its effect survives. After an error the effect is unknown: it
/// may be seen later, also after a restart. Keys are text in bytewise order; values are bytes.
/// \threadsafety One thread owns it.
class DurableStore {
 public:
  DurableStore() = default;
  DurableStore(const DurableStore&) = delete;
  DurableStore& operator=(const DurableStore&) = delete;
  virtual ~DurableStore() = default;

  /// Makes all changes, in their order, or none of them. Rows that are wrong without each other are
  /// written in one call.
  virtual Status Write(std::span<const RowChange> changes) = 0;
  Status Put(std::string_view key, std::string_view value) {
    return Write(std::array{RowChange{std::string(key), std::string(value)}});
  }
  /// Stores `value` if the key has none. Atomic.
  /// \return the value of the key after the call
  virtual Result<std::string> PutIfAbsent(std::string_view key, std::string_view value) = 0;
  virtual Result<std::optional<std::string>> Get(std::string_view key) = 0;
  /// Succeeds if the key is absent.
  Status Erase(std::string_view key) {
    return Write(std::array{RowChange{std::string(key), std::nullopt}});
  }
  /// Keys that begin with `prefix`, ascending, with their values.
  virtual Result<std::vector<std::pair<std::string, std::string>>> List(
      std::string_view prefix) = 0;
  /// Keeps room for the next few small rows, so that they can be written even if the disk becomes
  /// full. Keeps what it has if that is still there.
  /// \error kResourceExhausted if there is not so much; kUnavailable
  virtual Status Reserve() = 0;
  /// Whether the next process finds what this one has written: nobody has deleted the file, or put
  /// another one in its place.
  /// \error kDataLoss naming the file
  virtual Status CheckPlace() const { return OkStatus(); }
};

}  // namespace tessera::engine
