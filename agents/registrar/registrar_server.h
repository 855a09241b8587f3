// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The registrar in its agent: sockets, files, and the loop's clock.

#include <memory>
#include <optional>

#include "agents/net/loop.h"
#include "agents/net/socket.h"
#include "agents/node/config.h"
#include "agents/registrar/registrar.h"
#include "agents/registrar/worker.h"
#include "engine/history/history.h"
#include "engine/history/journal.h"

namespace tessera::agents {

/// \threadsafety The loop's thread.
class RegistrarServer {
 public:
  /// \error `port in use: tcp://…`; or naming the file that cannot be opened
  static Result<std::unique_ptr<RegistrarServer>> Start(Loop& loop, NetContext& net,
                                                        const AgentConfig& config,
                                                        const CurveKeys& keys);
  RegistrarServer(const RegistrarServer&) = delete;
  RegistrarServer& operator=(const RegistrarServer&) = delete;

 private:
  explicit RegistrarServer(Loop& loop) : loop_(loop) {}
  Status Open(NetContext& net, const AgentConfig& config, const CurveKeys& keys);
  Registrar::World MakeWorld(const AgentConfig& config);
  void OnReady();

  Loop& loop_;
  std::optional<Socket> router_, events_;
  std::unique_ptr<engine::Journal> journal_;
  std::unique_ptr<engine::History> history_;
  std::unique_ptr<engine::History> reader_;  // of the same file, for the worker
  std::optional<Registrar> registrar_;
  std::optional<Worker> worker_;
};

}  // namespace tessera::agents
