// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// How many events of each node the registrar records: each is a row of the history.

#include <cstdint>
#include <map>
#include <optional>

#include "agents/net/allowance.h"

namespace tessera::agents {

/// \threadsafety One thread.
class EventLimits {
 public:
  static constexpr double kBurst = 500, kPerSecond = 20;  // events of a node

  /// \return how many events of the node were dropped since the last one that passed; nullopt: this
  ///     one is dropped
  std::optional<std::int64_t> Admit(std::int32_t node, Allowance::Clock::time_point now) {
    Allowance& own = nodes_.try_emplace(node, kBurst, kPerSecond).first->second;
    return own.Take(now) ? std::optional(own.TakeDropped()) : std::nullopt;
  }

 private:
  std::map<std::int32_t, Allowance> nodes_;  // as many as there are keys of nodes
};

}  // namespace tessera::agents
