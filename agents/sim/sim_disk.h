// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The disk of a simulated process: it survives the process, it can be full, and for the test of
/// the simulator it can lose writes.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/history/durable_store.h"

namespace tessera::agents::sim {

class SimDisk : public engine::DurableStore {
 public:
  bool is_full = false;
  /// A row with this key and value is reported as written, and is not.
  std::function<bool(std::string_view key, std::string_view value)> loses;

  Status Put(std::string_view key, std::string_view value) override {
    TESSERA_RETURN_IF_ERROR(Check());
    if (!loses || !loses(key, value)) rows_.insert_or_assign(std::string(key), std::string(value));
    return OkStatus();
  }
  Result<std::string> PutIfAbsent(std::string_view key, std::string_view value) override {
    TESSERA_RETURN_IF_ERROR(Check());
    return rows_.emplace(key, value).first->second;
  }
  Result<std::optional<std::string>> Get(std::string_view key) override {
    const auto it = rows_.find(key);
    return it == rows_.end() ? std::optional<std::string>() : it->second;
  }
  Status Erase(std::string_view key) override {
    TESSERA_RETURN_IF_ERROR(Check());
    if (const auto it = rows_.find(key); it != rows_.end()) rows_.erase(it);
    return OkStatus();
  }
  Result<std::vector<std::pair<std::string, std::string>>> List(std::string_view prefix) override {
    std::vector<std::pair<std::string, std::string>> found;
    for (const auto& [key, value] : rows_) {
      if (key.starts_with(prefix)) found.emplace_back(key, value);
    }
    return found;
  }

 private:
  Status Check() const {
    return is_full ? Status(ResourceExhausted("the disk is full")) : OkStatus();
  }
  std::map<std::string, std::string, std::less<>> rows_;
};

}  // namespace tessera::agents::sim
