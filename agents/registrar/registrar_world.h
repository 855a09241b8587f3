// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What the registrar acts on: its agent gives it the real things, the simulator simulated ones.

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "agents/registrar/data_opener.h"
#include "agents/registrar/simulated_nodes.h"
#include "agents/wire/messages_fwd.h"
#include "engine/history/durable_store.h"
#include "engine/history/history.h"
#include "engine/txn/decision.h"
#include "ptc/base/result.h"

namespace tessera::agents {

struct RegistrarWorld {
  /// Sends to the connection of a node or of a client.
  std::function<Status(const std::string& identity, const wire::ToNode& message)> send;
  std::function<void(const std::string& identity, const wire::Reply& reply)> reply;
  /// Sends to all subscribers.
  std::function<void(const wire::Published& message)> publish;
  /// Seconds since 1970.
  std::function<double()> wall_clock;
  std::function<void(const std::string& line)> print;
  /// A test may end the process here.
  std::function<void(const std::string& point)> fault_point;
  std::unique_ptr<DataOpener> data;
  /// Runs `work` on another thread, and `then` on that of the timers afterwards, unless the
  /// registrar has ended. In the order of the calls.
  std::function<void(std::function<void()> work, std::function<void()> then)> compute;
  engine::DecisionRegister& decisions;
  engine::DurableStore& journal;
  engine::History& history;
  engine::History& reader;  // of the same history, for work
  std::int64_t generation = 1;  // as of RegistrarRecord
  /// As `send`, for a message that many nodes get: it is serialised once. Empty: `send` does it.
  std::function<Status(const std::string& identity,
                       const std::shared_ptr<const wire::ToNode>& message)>
      send_shared = {};
  /// Rows of the job table were rebuilt from what nodes hold. May be empty.
  std::function<void()> table_rebuilt = {};
  /// The node was killed or given up: a takeover does not wait for its copy. May be empty.
  std::function<void(std::int32_t node)> node_given_up = {};
  /// Present: the nodes are simulated.
  std::shared_ptr<const SimulationFacts> simulation = {};
  std::size_t longest_value = 4096;  // in messages to nodes, bytes; longer ones become documents
};

}  // namespace tessera::agents
