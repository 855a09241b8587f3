// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Questions that the registrar passes on to nodes, and their answers: each question gets one
/// answer a node, the node's own or an error in its place.

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>

#include "agents/net/loop.h"
#include "agents/wire/tessera/wire/node.pb.h"
#include "ptc/base/result.h"

namespace tessera::agents {

/// Lives on a loop; every member is called on the loop's thread.
class NodeAsks {
 public:
  using Send = std::function<Status(std::int32_t node, const wire::ToNode& message)>;
  using Answers = std::map<std::int32_t, Result<wire::NodeAnswer>>;

  NodeAsks(Loop& loop, Send send);

  /// Asks all of `nodes` at once. `done` runs exactly once, with an entry for each: as soon as all
  /// have answered, at the latest after `deadline`. An entry is an error where the message could
  /// not be sent (that of Send), where the node could not answer (kFailedPrecondition), or where it
  /// said nothing (kTimeout).
  void Ask(const std::set<std::int32_t>& nodes, wire::NodeQuery query,
           std::chrono::milliseconds deadline, std::function<void(Answers)> done);
  /// An answer to no open question is dropped.
  void OnAnswer(std::int32_t node, const wire::NodeAnswer& answer);

 private:
  struct Open {
    std::set<std::int32_t> waiting;
    Answers answers;
    std::function<void(Answers)> done;
    Loop::TimerId timer = 0;
  };
  void FinishIfComplete(std::uint64_t ticket);

  Loop& loop_;
  const Send send_;
  std::map<std::uint64_t, Open> open_;
  std::uint64_t last_ticket_ = 0;
};

}  // namespace tessera::agents
