// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A node becomes the registrar: it collects what the nodes keep of the earlier registrar's
/// journal.

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "agents/net/timers.h"
#include "agents/node/config.h"
#include "agents/wire/tessera/wire/node.pb.h"
#include "engine/history/durable_store.h"
#include "ptc/base/result.h"

namespace tessera::agents {

/// Of the copies that nodes have, that of the latest revision counts. Ends as soon as all nodes of
/// its jobs have reported, or when no node has come for `node_lost_seconds`: those that are missing
/// then count as lost, like any silent node. No transaction is decided by that: the register holds
/// the outcome of the transaction in progress.
/// \threadsafety The thread of the timers.
class Takeover {
 public:
  struct World {
    std::function<void(const std::string& identity, const wire::ToNode& message)> send;
    std::function<void(const std::string& line)> print;
    /// The journal has all that is known. The last call; the takeover may be destroyed in it.
    std::function<void()> done;
  };
  /// \pre timers and journal outlive it
  Takeover(Timers& timers, const AgentConfig& config, std::int64_t generation,
           engine::DurableStore& journal, World world);
  ~Takeover();
  Takeover(const Takeover&) = delete;
  Takeover& operator=(const Takeover&) = delete;

  /// Whether an earlier agent of this node has completed it.
  /// \error those of the journal
  static Result<bool> IsComplete(engine::DurableStore& journal);
  /// \pre the sender has connected with the key of the node that the message names
  void OnNode(const std::string& identity, const wire::FromNode& message);
  /// "n1 takes over as the registrar: n1, n2 reported, waiting for n0".
  std::string Text() const;

 private:
  void Note(std::int32_t node, const wire::KeptRows& rows);
  void Tick();
  Status Write();
  /// The nodes of the jobs and of the transaction in the rows.
  std::set<std::int32_t> Awaited() const;

  Timers& timers_;
  const AgentConfig& config_;
  const std::int64_t generation_;
  engine::DurableStore& journal_;
  const World world_;
  wire::KeptRows rows_;  // of the latest revision
  std::set<std::int32_t> reported_;
  std::set<std::int32_t> awaited_;
  Timers::Clock::time_point last_arrival_;
  Timers::TimerId period_ = 0;
};

}  // namespace tessera::agents
