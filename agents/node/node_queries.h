// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Questions that a node answers by itself: what its machine is like, how fast it and its links
/// are, the end of its log. Each is worked on by a thread of its own, so that the agent's loop goes
/// on.

#include <cstdint>
#include <functional>
#include <map>
#include <thread>

#include "agents/net/loop.h"
#include "agents/node/config.h"
#include "agents/node/link_probe.h"
#include "agents/wire/messages_fwd.h"

namespace tessera::agents {

/// Lives on a loop; every member is called on the loop's thread.
class NodeQueries {
 public:
  using Reply = std::function<void(wire::NodeAnswer)>;

  NodeQueries(Loop& loop, const AgentConfig& config, LinkPort port);
  /// Stops what runs and waits for it; those questions stay without an answer.
  ~NodeQueries();

  /// `reply` runs on the loop, once: with an answer, or with `error` set in one line. One probe at
  /// a time; it is ended after 60 s.
  void Ask(const wire::NodeQuery& query, Reply reply);

 private:
  Loop& loop_;
  const AgentConfig config_;
  const LinkPort port_;
  std::map<std::uint64_t, std::jthread> running_;  // by number of the run
  std::uint64_t last_run_ = 0;
  bool probing_ = false;
};

}  // namespace tessera::agents
