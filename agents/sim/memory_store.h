// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The disk of a simulated process: it survives the process, its writes can fail, with or without
/// effect.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/history/durable_store.h"

namespace tessera::agents::sim {

class MemoryStore : public engine::DurableStore {
 public:
  std::map<std::string, std::string, std::less<>> rows;
  /// Writes of keys that begin with this fail and have no effect. nullopt: none fails.
  std::optional<std::string> refused;
  /// Asked after each write: it is then reported as failed.
  std::function<bool()> fails_after;
  bool is_broken() const { return refused || fails_after; }

  /// Called before and after each write: the process may die there.
  std::function<void()> point;
  /// Called before a value is written by PutIfAbsent.
  std::function<void(std::string_view key, std::string_view value)> before_first;

  Status Put(std::string_view key, std::string_view value) override {
    TESSERA_RETURN_IF_ERROR(Check(key));
    if (point) point();
    rows.insert_or_assign(std::string(key), std::string(value));
    if (point) point();
    return Reported();
  }
  Result<std::string> PutIfAbsent(std::string_view key, std::string_view value) override {
    TESSERA_RETURN_IF_ERROR(Check(key));
    if (point) point();
    if (before_first && rows.find(key) == rows.end()) before_first(key, value);
    std::string held = rows.emplace(key, value).first->second;
    if (point) point();
    TESSERA_RETURN_IF_ERROR(Reported());
    return held;
  }
  Result<std::optional<std::string>> Get(std::string_view key) override {
    const auto it = rows.find(key);
    return it == rows.end() ? std::optional<std::string>() : it->second;
  }
  Status Erase(std::string_view key) override {
    TESSERA_RETURN_IF_ERROR(Check(key));
    if (point) point();
    if (const auto it = rows.find(key); it != rows.end()) rows.erase(it);
    if (point) point();
    return Reported();
  }
  Result<std::vector<std::pair<std::string, std::string>>> List(std::string_view prefix) override {
    std::vector<std::pair<std::string, std::string>> found;
    for (const auto& [key, value] : rows) {
      if (key.starts_with(prefix)) found.emplace_back(key, value);
    }
    return found;
  }

  Status Reserve() override {
    if (refused) return ResourceExhausted("the disk is full");
    reserved_ = kReserved;
    return OkStatus();
  }

 private:
  /// Rows for which there is room when it is reserved.
  static constexpr int kReserved = 20;

  Status Reported() const {
    if (fails_after && fails_after()) return Internal("the disk does not answer");
    return OkStatus();
  }
  Status Check(std::string_view key) {
    if (!refused || !key.starts_with(*refused)) return OkStatus();
    if (reserved_ > 0) {
      --reserved_;
      return OkStatus();
    }
    return ResourceExhausted("the disk is full");
  }

  int reserved_ = 0;
};

}  // namespace tessera::agents::sim
