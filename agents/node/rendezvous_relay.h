// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What ranks of this node tell and ask each other while they build groups, on its way to the
/// registrar, which keeps it for all nodes.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "agents/wire/tessera/wire/node.pb.h"

namespace tessera::agents {

/// Remembers what it passed on, since a connection that breaks loses it: said twice does no harm.
/// Lives on a loop; every member is called on the loop's thread.
class RendezvousRelay {
 public:
  using Send = std::function<void(wire::FromNode message)>;
  using Reply = std::function<void(std::optional<std::string> value)>;

  explicit RendezvousRelay(Send send) : send_(std::move(send)) {}

  void Set(wire::StoreSet set);
  /// `reply` runs once: with the value when somebody has set it, with nothing from Forget.
  void Get(wire::StoreGet get, Reply reply);
  /// An answer to nothing that is waited for is dropped.
  void OnValue(const wire::StoreValue& value);
  /// The connection is a new one, or the registrar is: says all of it again.
  void Repeat();
  /// The job's groups stand, or are not wanted any more.
  void Forget(const std::string& job);

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
