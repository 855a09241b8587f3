// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Where the ranks of an attempt meet: values that one rank sets and others wait for, such as the
/// address of a group.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "agents/wire/messages_fwd.h"

namespace tessera::agents {

/// \threadsafety The loop's thread.
class Rendezvous {
 public:
  /// Sends a value to a node that waits for it. A message that is lost is asked for again.
  using Send = std::function<void(std::int32_t node, const wire::ToNode& message)>;
  /// Attempts of one job that are kept. Messages about an attempt may arrive after its end, so the
  /// oldest attempts are dropped.
  static constexpr std::ptrdiff_t kMostAttempts = 16;

  /// Of one attempt. A job has as many values and questions as ranks, times the groups of a rank.
  static constexpr std::size_t kMostKeys = 200'000;
  static constexpr std::int64_t kMostBytes = std::int64_t{64} << 20;

  explicit Rendezvous(Send send) : send_(std::move(send)) {}

  /// Ignored above the limits: the ranks then give up.
  void Set(const wire::StoreSet& message);
  /// Answers at once, or as soon as the key is set.
  void Get(std::int32_t node, const wire::StoreGet& message);
  void Forget(const std::string& job);
  void Forget(const std::string& job, std::int64_t epoch, std::int64_t attempt);
  std::size_t num_attempts() const { return stores_.size(); }

 private:
  struct Store {
    std::map<std::string, std::string> values;
    std::int64_t bytes = 0;                                                    // of keys and values
    std::multimap<std::string, std::pair<std::int32_t, std::uint64_t>> waits;  // node, ticket
  };
  using Key = std::tuple<std::string, std::int64_t, std::int64_t>;  // job, epoch, attempt
  Store& At(Key key);
  void Answer(std::int32_t node, std::uint64_t ticket, const std::string& value);

  const Send send_;
  std::map<Key, Store> stores_;
};

}  // namespace tessera::agents
