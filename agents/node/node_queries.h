// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Queries that a node answers by itself: checks of its machine, its speed, its links, the end of
/// its log, checkpoints. They run on other threads, because the agent's loop must not block.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "agents/move/link_probe.h"
#include "agents/net/loop.h"
#include "agents/net/worker.h"
#include "agents/node/config.h"
#include "agents/wire/messages_fwd.h"

namespace tessera::agents {

/// \threadsafety The loop's thread.
class NodeQueries {
 public:
  using Reply = std::function<void(wire::NodeAnswer)>;

  NodeQueries(Loop& loop, const AgentConfig& config, LinkPort port);
  /// Cancels the running queries and waits for their threads. They get no answer.
  ~NodeQueries();

  /// `reply` runs once, on the loop, with an answer or with `error` set to one line. Only one probe
  /// runs at a time; it is killed after 60 s. What viewers may request runs on two threads, one
  /// query after the other: one thread checks the machine and reads logs, one examines checkpoints,
  /// whose file system may hang. At most kMostLooks wait for each. Each other query has a thread of
  /// its own, at most kMostThreads.
  void Run(const wire::NodeQuery& query, Reply reply);
  static constexpr int kMostLooks = 64;
  static constexpr std::size_t kMostThreads = 64;
  /// The keys of rows of the journal that were set aside, for the checks of the machine.
  /// \pre before the first Run
  void SetUnreadable(std::vector<std::string> rows) { unreadable_ = std::move(rows); }

 private:
  struct Looker {
    explicit Looker(Loop& loop) : worker(loop) {}
    int waiting = 0;
    Worker worker;  // last: its tasks use `waiting`
  };
  void Look(Looker& looker, const wire::NodeQuery& query, Reply reply);
  void Refuse(const wire::NodeQuery& query, std::size_t waiting, const Reply& reply) const;

  Loop& loop_;
  const AgentConfig config_;
  const LinkPort port_;
  std::vector<std::string> unreadable_;
  std::map<std::uint64_t, std::jthread> running_;  // by number of the run
  std::uint64_t last_run_ = 0;
  bool probing_ = false;
  Looker machine_, checkpoints_;  // last: their tasks use all of the above
};

}  // namespace tessera::agents
