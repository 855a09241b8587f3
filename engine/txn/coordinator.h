// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The coordinator of one reconfiguration: a state machine without I/O and without a clock. Events
/// go in, actions come out; the registrar carries them out and feeds back what happened.
///
/// Safety does not depend on timing: the outcome is what the write-once register holds, `commit` is
/// written only after every participant has journaled `verified`, and nobody is told an outcome
/// before the register has answered.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/cluster/snapshot.h"

namespace tessera::engine {

using NodeNumber = std::int32_t;

// ---- events
struct Begin {};
struct NodePrepared {
  NodeNumber node;
};
struct NodeRefused {
  NodeNumber node;
  std::string reason;
};
/// All of the node's ranks wait at the boundary after `step`.
struct NodePaused {
  NodeNumber node;
  std::int64_t step;
};
struct NodeTransferred {
  NodeNumber node;
};
struct NodeTransferFailed {
  NodeNumber node;
  std::string reason;
};
/// The registrar compared the digests of all cells before and after.
struct DigestsCompared {
  bool equal;
  std::string difference;
};
struct NodeVerified {
  NodeNumber node;
};
/// What the register holds.
struct RegisterAnswered {
  bool commit;
};
/// The node has followed the outcome (attached to the new epoch, or cleaned up).
struct NodeFollowed {
  NodeNumber node;
};
/// The node's agent came back; `verified` tells whether it had journaled that.
struct NodeRestarted {
  NodeNumber node;
  bool verified;
};
/// The connection to the node was made anew: what was on its way, either way, may be lost.
struct NodeReconnected {
  NodeNumber node;
};
/// A rank of the job ended, or its device failed.
struct RankLost {
  NodeNumber node;
  bool joining;
  std::string reason;
};
/// Nothing was heard of the node for 10 s, or its keeper is gone.
struct NodeSilent {
  NodeNumber node;
  std::string reason;
};
/// The job did not reach a step boundary in time.
struct PauseOverdue {
  std::string reason;
};
struct CancelAsked {
  std::string reason;
};
using CoordinatorEvent =
    std::variant<Begin, NodePrepared, NodeRefused, NodePaused, NodeTransferred, NodeTransferFailed,
                 DigestsCompared, NodeVerified, RegisterAnswered, NodeFollowed, NodeRestarted,
                 NodeReconnected, RankLost, NodeSilent, PauseOverdue, CancelAsked>;

// ---- actions
struct SendPrepare {
  NodeNumber node;
};
struct SendPause {
  NodeNumber node;
};
struct SendTransfer {
  NodeNumber node;
  std::int64_t step;
};
struct CompareDigests {};
struct SendVerify {
  NodeNumber node;
};
/// Journal, then write to the register; answer with RegisterAnswered.
struct WriteRegister {
  bool commit;
};
struct SendOutcome {
  NodeNumber node;
  bool commit;
};
/// Every participant has followed: ranks may go on.
struct SendGo {
  NodeNumber node;
};
/// The transaction is over. `reason` is empty after a commit.
struct Finish {
  bool committed;
  std::string reason;
};
using CoordinatorAction = std::variant<SendPrepare, SendPause, SendTransfer, CompareDigests,
                                       SendVerify, WriteRegister, SendOutcome, SendGo, Finish>;

class Coordinator {
 public:
  struct Setup {
    /// Every node with a device of the old or the new layout.
    std::set<NodeNumber> participants;
    /// Those with ranks of the old layout: they pause.
    std::set<NodeNumber> pausing;
    /// The job waits at a step boundary already (and stays there afterwards).
    std::optional<std::int64_t> paused_at;
  };
  explicit Coordinator(Setup setup);
  /// One that died and is back: it asks the register by writing `abort`, which answers `commit` if
  /// that was decided.
  static Coordinator Recovered(Setup setup);

  /// Handles one event; events that do not fit the state (late or repeated) are ignored.
  std::vector<CoordinatorAction> On(const CoordinatorEvent& event);

  TxnPhase phase() const { return phase_; }
  /// Whether cancelling still means that nothing changes.
  bool can_cancel() const;
  const std::string& reason() const { return reason_; }
  /// Step after which the job stands; set once all have paused.
  std::optional<std::int64_t> step() const { return step_; }
  /// Participants of the present phase that have not answered.
  const std::set<NodeNumber>& waiting_for() const { return waiting_; }

 private:
  using Actions = std::vector<CoordinatorAction>;
  Actions Abort(std::string reason);
  Actions Decide(bool commit);
  Actions Follow(bool commit);
  Actions StartPause();
  Actions StartTransfer();
  Actions OnFollowed();
  /// What the present phase asks of the node.
  CoordinatorAction RequestTo(NodeNumber node) const;
  /// Asks it of `nodes`, and waits for them.
  Actions Ask(std::set<NodeNumber> nodes);
  bool Answered(NodeNumber node, TxnPhase expected);

  Setup setup_;
  TxnPhase phase_ = TxnPhase::kPlanned;
  std::set<NodeNumber> waiting_;
  std::set<NodeNumber> silent_;  // not heard of since
  std::optional<std::int64_t> step_;
  bool compared_ = false;
  bool asked_abort_ = false;
  std::string reason_;
};

}  // namespace tessera::engine
