// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A node whose journal is damaged: it takes no part, and tells the registrar why.

#include <optional>
#include <string>

#include "agents/net/loop.h"
#include "agents/net/socket.h"
#include "agents/node/config.h"
#include "ptc/base/result.h"

namespace tessera::agents {

/// Stops the loop when the journal was replaced or repaired: the keeper then starts the next agent.
/// Until then it repeats the reason to the registrar, which may restart or move.
/// \threadsafety The loop's thread.
class RefusingNode {
 public:
  /// \pre loop and net outlive it; nobody has the journal open
  RefusingNode(Loop& loop, NetContext& net, const AgentConfig& config, const CurveKeys& keys,
               std::string why);
  RefusingNode(const RefusingNode&) = delete;
  RefusingNode& operator=(const RefusingNode&) = delete;
  ~RefusingNode();

 private:
  void Tick();
  void Send();
  Status Connect();

  Loop& loop_;
  NetContext& net_;
  const AgentConfig config_;
  const CurveKeys keys_;
  const std::string why_;
  const std::string damaged_;  // identity of the damaged file
  Timers::TimerId period_ = 0;
  int ticks_ = 0;
  std::optional<Socket> registrar_;
};

}  // namespace tessera::agents
