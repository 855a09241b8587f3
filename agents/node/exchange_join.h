// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Meets the other processes of a DeviceExchange on a thread of its own.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "agents/gpu/nccl_exchange.h"
#include "agents/net/timers.h"
#include "agents/views/disposal.h"

namespace tessera::agents {

/// Destroying it ends the attempt, and waits for nothing. Neither does the destruction of what it
/// has made: the driver may block in both, so that is left to `left`.
class ExchangeJoin {
 public:
  using Met = Result<std::shared_ptr<engine::DeviceExchange>>;
  /// \param left outlives the exchange
  /// \param place absent: one is made, and `made` runs with it
  /// \param made, done run on the loop of `timers`, once at most, also after this is destroyed
  ExchangeJoin(Timers& timers, Disposal& left, std::optional<std::string> place,
               ExchangeMembers members, std::function<void(const std::string& place)> made,
               std::function<void(Met exchange)> done);
  ~ExchangeJoin();
  ExchangeJoin(const ExchangeJoin&) = delete;
  ExchangeJoin& operator=(const ExchangeJoin&) = delete;

 private:
  Disposal& left_;
  std::jthread thread_;
};

}  // namespace tessera::agents
