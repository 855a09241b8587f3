// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Sends a query to several nodes and collects one answer per node: the node's own, or an error.

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>

#include "agents/net/timers.h"
#include "agents/wire/tessera/wire/node.pb.h"
#include "ptc/base/result.h"

namespace tessera::agents {

/// \threadsafety The loop's thread.
class NodeQueryClient {
 public:
  using Send = std::function<Status(std::int32_t node, const wire::ToNode& message)>;
  using Answers = std::map<std::int32_t, Result<wire::NodeAnswer>>;

  NodeQueryClient(Timers& timers, Send send);

  /// Sends `query` to all `nodes`. `done` runs exactly once, with one entry per node, as soon as
  /// all nodes have answered, or after `deadline`. An entry is an error if the message could not be
  /// sent (the error of Send), if the node could not answer (kFailedPrecondition), or if it did not
  /// answer in time (kTimeout).
  void Query(const std::set<std::int32_t>& nodes, wire::NodeQuery query,
             std::chrono::milliseconds deadline, std::function<void(Answers)> done);
  /// Ignores an answer to no open query.
  void OnAnswer(std::int32_t node, const wire::NodeAnswer& answer);

 private:
  struct Open {
    std::set<std::int32_t> waiting;
    Answers answers;
    std::function<void(Answers)> done;
    Timers::TimerId timer = 0;
  };
  void FinishIfComplete(std::uint64_t ticket);

  Timers& timers_;
  const Send send_;
  std::map<std::uint64_t, Open> open_;
  std::uint64_t last_ticket_ = 0;
};

}  // namespace tessera::agents
