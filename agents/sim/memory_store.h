// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The disk of a simulated process: it survives the process. Its writes can fail, with or without
/// effect, take long, and be lost with the power.

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/history/durable_store.h"

namespace tessera::agents::sim {

class MemoryStore : public engine::DurableStore {
 public:
  std::map<std::string, std::string, std::less<>> rows;
  using Text = std::shared_ptr<const std::string>;
  /// Keeps the values of long rows, which the disks of many nodes share. Such rows are not in
  /// `rows`.
  /// \pre without `remembers`
  std::function<Text(std::string_view value)> share;
  /// Writes of keys that begin with this fail and have no effect. nullopt: none fails.
  std::optional<std::string> refused;
  /// Asked after each write: it is then reported as failed.
  std::function<bool()> fails_after;
  bool is_broken() const { return refused || fails_after; }
  /// What CheckPlace returns.
  Status place = OkStatus();
  /// Called after each write, which takes as long as this blocks the process.
  std::function<void()> delays;

  /// Called before and after each write: the process may die there.
  std::function<void()> point;
  /// Called before a value is written by PutIfAbsent.
  std::function<void(std::string_view key, std::string_view value)> before_first;

  Status Write(std::span<const engine::RowChange> changes) override {
    for (const engine::RowChange& change : changes) TESSERA_RETURN_IF_ERROR(Check(change.key));
    if (point) point();
    BeginWrite();
    for (const engine::RowChange& change : changes) {
      Remember(change.key);
      if (change.value) {
        Set(change.key, *change.value);
      } else {
        Drop(change.key);
      }
    }
    return Written();
  }
  Result<std::string> PutIfAbsent(std::string_view key, std::string_view value) override {
    TESSERA_RETURN_IF_ERROR(Check(key));
    if (point) point();
    const std::string* held = Find(key);
    if (before_first && !held) before_first(key, value);
    BeginWrite();
    Remember(key);
    if (!held) Set(key, value);
    std::string now = *Find(key);
    TESSERA_RETURN_IF_ERROR(Written());
    return now;
  }
  Result<std::optional<std::string>> Get(std::string_view key) override {
    const std::string* const held = Find(key);
    return held ? std::optional(*held) : std::nullopt;
  }
  Result<std::vector<std::pair<std::string, std::string>>> List(std::string_view prefix) override {
    std::vector<std::pair<std::string, std::string>> found;
    for (const auto& [key, value] : rows) {
      if (key.starts_with(prefix)) found.emplace_back(key, value);
    }
    for (const auto& [key, value] : long_rows_) {
      if (key.starts_with(prefix)) found.emplace_back(key, *value);
    }
    if (!long_rows_.empty()) std::sort(found.begin(), found.end());
    return found;
  }
  Status CheckPlace() const override { return place; }
  void Clear() {
    rows.clear();
    long_rows_.clear();
  }

  Status Reserve() override {
    if (refused) return ResourceExhausted("the disk is full");
    reserved_ = kReserved;
    return OkStatus();
  }

  /// Whether the last writes can be lost. They are kept for that.
  bool remembers = true;
  static constexpr std::int64_t kMostLost = 20;
  /// Undoes the last `writes`, at most kMostLost, as if the disk had confirmed but not kept them.
  void LoseLast(std::int64_t writes) {
    for (; writes > 0 && !last_.empty(); --writes, last_.pop_back()) {
      std::vector<engine::RowChange>& write = last_.back();
      for (; !write.empty(); write.pop_back()) {
        auto& [key, before] = write.back();
        if (before) {
          rows.insert_or_assign(std::move(key), std::move(*before));
        } else {
          rows.erase(key);
        }
      }
    }
  }

 private:
  /// Rows for which there is room when it is reserved.
  static constexpr int kReserved = 20;

  static constexpr std::size_t kLong = 4096;  // bytes of a value

  const std::string* Find(std::string_view key) const {
    if (const auto it = rows.find(key); it != rows.end()) return &it->second;
    const auto it = long_rows_.find(key);
    return it == long_rows_.end() ? nullptr : it->second.get();
  }
  void Drop(std::string_view key) {
    if (const auto it = rows.find(key); it != rows.end()) rows.erase(it);
    if (const auto it = long_rows_.find(key); it != long_rows_.end()) long_rows_.erase(it);
  }
  void Set(std::string_view key, std::string_view value) {
    Drop(key);
    if (share && value.size() >= kLong) {
      long_rows_.emplace(key, share(value));
    } else {
      rows.emplace(key, value);
    }
  }
  void BeginWrite() {
    if (!remembers) return;
    last_.emplace_back();
    if (std::ssize(last_) > kMostLost) last_.pop_front();
  }
  void Remember(std::string_view key) {
    if (!remembers) return;
    const auto it = rows.find(key);
    last_.back().push_back({std::string(key), it == rows.end()
                                                  ? std::nullopt
                                                  : std::optional<std::string>(it->second)});
  }
  Status Written() {
    if (point) point();
    if (delays) delays();
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

  std::map<std::string, Text, std::less<>> long_rows_;
  int reserved_ = 0;
  /// The rows of the last writes, as they were before.
  std::deque<std::vector<engine::RowChange>> last_;
};

}  // namespace tessera::agents::sim
