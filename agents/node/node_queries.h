// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Queries that a node answers by itself: checks of its machine, its speed, its links, the end of
/// its log. Each query runs on its own thread, because the agent's loop must not block.

#include <cstdint>
#include <functional>
#include <map>
#include <thread>

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
  /// runs at a time; it is killed after 60 s. Checks of the machine and logs are read on one
  /// thread, one after the other; at most kMostLooks of them wait.
  void Run(const wire::NodeQuery& query, Reply reply);
  static constexpr int kMostLooks = 64;

 private:
  /// Answers requests of viewers, which may come in any number.
  void Look(const wire::NodeQuery& query, Reply reply);

  Loop& loop_;
  const AgentConfig config_;
  const LinkPort port_;
  std::map<std::uint64_t, std::jthread> running_;  // by number of the run
  std::uint64_t last_run_ = 0;
  bool probing_ = false;
  int looks_ = 0;
  Worker looker_;  // last: its task uses all of the above
};

}  // namespace tessera::agents
