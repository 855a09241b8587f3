// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Which lines of ranks become events. Each event is a row in the history of the registrar and a
/// message to all panels, and ranks may print in every step.

#include <string>

#include "agents/net/allowance.h"
#include "agents/node/node_world.h"
#include "agents/node/uplink.h"

namespace tessera::agents {

/// The ranks of a node share one bound. Lines above it are in the agent's log and in `job logs`
/// only.
/// \threadsafety The loop's thread.
class OutputEvents {
 public:
  static constexpr double kBurst = 200, kPerSecond = 2;  // lines

  /// \pre both outlive it
  OutputEvents(const Uplink& uplink, const NodeWorld& world) : uplink_(uplink), world_(world) {}

  /// \param source "nano n0g1"
  void Add(const std::string& source, const std::string& line, Allowance::Clock::time_point now);

 private:
  const Uplink& uplink_;
  const NodeWorld& world_;
  Allowance allowance_{kBurst, kPerSecond};
};

}  // namespace tessera::agents
