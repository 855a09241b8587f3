// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A node becomes the registrar: it collects what the nodes keep of the earlier registrar's
/// journal.

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "agents/net/timers.h"
#include "agents/node/config.h"
#include "agents/wire/tessera/wire/node.pb.h"
#include "engine/history/durable_store.h"
#include "ptc/base/result.h"

namespace tessera::agents {

/// Takes the copy of the latest revision. Ends as soon as all nodes of its jobs have reported, or
/// when no node has come for `node_lost_seconds` and the copies suffice: this node must have
/// reported, and either the nodes of the jobs in the latest copy or a majority of all nodes must
/// have a copy. The node of the earlier registrar is off, so it does not count. Nodes that are
/// missing then count as lost, like any silent node. No transaction is decided by that: the
/// register holds the outcome of the transaction in progress. It never ends with a copy that is
/// older than the revision which the earlier registrar noted in etcd.
/// \threadsafety The thread of the timers.
class Takeover {
 public:
  struct World {
    std::function<void(const std::string& identity, const wire::ToNode& message)> send;
    std::function<void(const std::string& line)> print;
    /// The journal has all that is known. The last call; the takeover may be destroyed in it.
    std::function<void()> done;
    /// The revision of the table that is noted in etcd; nullopt: not known yet. Absent: none is.
    std::function<std::optional<std::int64_t>()> noted = {};
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
  /// Whether the copies that have come are those of enough nodes.
  bool Suffices() const;
  /// Whether a later table than that of each copy is noted.
  bool IsOlder() const { return noted_ && *noted_ > rows_.revision(); }

  Timers& timers_;
  const AgentConfig& config_;
  const std::int64_t generation_;
  engine::DurableStore& journal_;
  const World world_;
  wire::KeptRows rows_;  // of the latest revision
  std::set<std::int32_t> reported_;
  std::map<std::int32_t, std::string> problems_;  // why a node takes no part
  std::set<std::int32_t> copies_;                 // nodes that have reported one
  std::set<std::int32_t> awaited_;
  std::set<std::int32_t> nodes_;       // that have ever registered with the earlier registrar
  std::optional<std::int32_t> off_;    // the node of the earlier registrar, by the latest copy
  std::optional<std::int64_t> noted_;  // World::noted, asked for once the copies suffice
  bool has_said_older_ = false;
  /// Absent until the loop runs, since nobody is heard before.
  std::optional<Timers::Clock::time_point> last_arrival_;
  Timers::TimerId period_ = 0;
};

}  // namespace tessera::agents
