// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Relays the rendezvous of process groups: the key-value requests of this node's ranks go to the
/// registrar, which stores the values for all nodes.

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "agents/wire/tessera/wire/node.pb.h"

namespace tessera::agents {

/// Remembers all requests, because a broken connection loses them. Sending one twice is harmless.
/// \threadsafety The loop's thread.
class RendezvousRelay {
 public:
  using Send = std::function<void(wire::FromNode message)>;
  using Reply = std::function<void(std::optional<std::string> value)>;

  explicit RendezvousRelay(Send send) : send_(std::move(send)) {}

  void Set(wire::StoreSet set);
  /// `reply` runs once: with the value when a rank has set it, or with nullopt from Forget.
  void Get(wire::StoreGet get, Reply reply);
  /// Ignores a value that no request waits for.
  void OnValue(const wire::StoreValue& value);
  /// Sends all requests again, after a reconnection or a restart of the registrar.
  void Repeat();
  /// Drops the requests of `job`, up to those of `attempt`: its groups are connected, or no longer
  /// needed. Ranks of a later attempt may be meeting already.
  void Forget(const std::string& job, std::int64_t attempt = kAllAttempts);
  static constexpr std::int64_t kAllAttempts = std::numeric_limits<std::int64_t>::max();

 private:
  using Key = std::tuple<std::string, std::int64_t, std::int64_t, std::string>;
  struct Wait {
    wire::StoreGet get;
    Reply reply;
  };
  void SendSet(const wire::StoreSet& set);
  void SendGet(const wire::StoreGet& get);

  const Send send_;
  std::map<Key, wire::StoreSet> sets_;   // by job, epoch, attempt, key
  std::map<std::uint64_t, Wait> waits_;  // by ticket
  std::uint64_t last_ticket_ = 0;
};

}  // namespace tessera::agents
