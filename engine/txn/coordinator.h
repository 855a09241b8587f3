// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The coordinator of one transaction: a state machine without I/O and without a clock. Each event
/// results in actions. The registrar carries them out and reports their results as further events.
///
/// Safety does not depend on timing: the write-once register holds the outcome, `commit` is written
/// only after every participant has journaled `verified`, and no participant learns an outcome
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
  /// Whether the node has the memory to copy the state while its ranks compute, and to do so over
  /// several steps.
  bool can_precopy = true;
  bool can_follow = true;
};
struct NodeRefused {
  NodeNumber node;
  std::string reason;
};
/// The devices of the node hold the state that is to be copied, and keep it for the gradients of
/// one step.
struct NodeReached {
  NodeNumber node;
  int leg = 1;
};
/// The node has copied what it could while its ranks computed.
struct NodePrecopied {
  NodeNumber node;
  int leg = 1;
  bool is_whole = true;  // false: a part of it could not be copied
};
/// All ranks of the node wait with the state after `step`.
struct NodePaused {
  NodeNumber node;
  std::int64_t step;
  /// Whether they wait before an update. They do not where the job has made its last step, or
  /// cannot read its data.
  bool has_gradients = true;
};
struct NodeTransferred {
  NodeNumber node;
};
struct NodeTransferFailed {
  NodeNumber node;
  std::string reason;
};
/// The registrar compared what the transfers have read. Where they verify only what moves, nodes
/// compare it themselves, and nothing is left to compare.
struct DigestsCompared {
  bool equal;
  std::string difference;
};
struct NodeVerified {
  NodeNumber node;
};
/// In a move in rounds: the node has verified and journaled its cells of the round.
struct NodeMoved {
  NodeNumber node;
  int round;
};
/// The node has come back without what it held, or will not come back. NodeRestarted does not tell
/// that from a node that has followed the outcome and forgotten the transaction.
struct NodeGone {
  NodeNumber node;
  std::string reason;
};
/// The register's answer: the outcome that it holds.
struct RegisterAnswered {
  bool commit;
};
/// The node has reported the digests of the state that it has after a commit, or that it has none.
struct NodeDigested {
  NodeNumber node;
  bool has_digests;
};
/// Digests were not reported in time.
struct DigestsOverdue {};
/// The node has carried out the outcome (attached to the new epoch, or cleaned up).
struct NodeFollowed {
  NodeNumber node;
};
/// The agent of the node restarted. `verified`: it had journaled that state.
struct NodeRestarted {
  NodeNumber node;
  bool verified;
};
/// The node connected again. Messages in either direction may be lost.
struct NodeReconnected {
  NodeNumber node;
};
/// A rank of the job ended, or its device failed.
struct RankLost {
  NodeNumber node;
  bool joining;
  std::string reason;
};
/// No message from the node for 10 s, or its keeper ended.
struct NodeSilent {
  NodeNumber node;
  std::string reason;
};
/// The job did not reach a step boundary in time.
struct PauseOverdue {
  std::string reason;
};
struct CancelRequested {
  std::string reason;
};
using CoordinatorEvent =
    std::variant<Begin, NodePrepared, NodeRefused, NodeReached, NodePrecopied, NodePaused,
                 NodeTransferred, NodeTransferFailed, DigestsCompared, NodeVerified,
                 RegisterAnswered, NodeFollowed, NodeRestarted, NodeReconnected, RankLost,
                 NodeSilent, PauseOverdue, CancelRequested, NodeDigested, DigestsOverdue, NodeMoved,
                 NodeGone>;

// ---- actions
struct SendPrepare {
  NodeNumber node;
};
/// `before_update`: ranks pause with the gradients of a step, before they apply them, and the node
/// says when it has the state that this step began with. A `leg` after the first: the ranks, which
/// wait before an update, make it and pause before the next one, and the node keeps the gradients
/// of the tensors that are copied.
struct SendPause {
  NodeNumber node;
  bool before_update = false;
  int leg = 1;
};
/// Copy the tensors of the leg, of `legs`, while ranks compute. Those of earlier legs follow by the
/// gradients that were kept.
struct SendPrecopy {
  NodeNumber node;
  int leg = 1;
  int legs = 1;
};
/// `anew`: what was copied while ranks computed does not count.
struct SendTransfer {
  NodeNumber node;
  std::int64_t step;
  bool anew = false;
};
struct CompareDigests {};
struct SendVerify {
  NodeNumber node;
};
/// Journal the outcome, then write it to the register. RegisterAnswered is the result.
struct WriteRegister {
  bool commit;
};
struct SendOutcome {
  NodeNumber node;
  bool commit;
  /// Not 0: the change is decided, and all nodes have verified the rounds before this one, which
  /// the node is to move. kGivenUp: a node is lost, and the rounds cannot be ended.
  int round = 0;
  /// With kGivenUp: after how many rounds the state is left. All nodes have verified them, and none
  /// has freed more than they have moved.
  int settled = 0;
};
/// All participants have carried out the outcome: ranks continue.
struct SendGo {
  NodeNumber node;
};
/// The node may have lost the request, or its report of the digests.
struct AskDigests {
  NodeNumber node;
};
/// The transaction is over. `reason` is empty after a commit, unless its rounds were given up.
struct Finish {
  bool committed;
  std::string reason;
};
using CoordinatorAction =
    std::variant<SendPrepare, SendPause, SendPrecopy, SendTransfer, CompareDigests, SendVerify,
                 WriteRegister, SendOutcome, SendGo, AskDigests, Finish>;

/// As the round of an outcome.
constexpr int kGivenUp = -1;

/// What has to be noted durably before the outcome is sent, so that a coordinator after this one
/// knows what may be freed: the round that begins, or one more than `rounds` when all have ended.
/// 0: nothing.
inline int RoundToNote(const SendOutcome& outcome, int rounds) {
  if (!outcome.commit || rounds == 0 || outcome.round == kGivenUp) return 0;
  return outcome.round > 0 ? outcome.round : rounds + 1;
}

class Coordinator {
 public:
  struct Setup {
    /// Every node with a device of the old or the new layout.
    std::set<NodeNumber> participants;
    /// Nodes with ranks of the old layout, which pause.
    std::set<NodeNumber> pausing;
    /// Set if the job already waits at a step boundary. It stays there after the transaction.
    std::optional<std::int64_t> paused_at;
    /// Nodes that report digests after a commit, while ranks continue. The transaction ends when
    /// all have reported, or when one cannot. Empty: it ends when ranks continue.
    std::set<NodeNumber> digesting = {};
    /// Whether the state is copied while ranks compute the gradients of a step, so that only these
    /// gradients move in the pause, unless a node lacks the memory.
    bool precopies = false;
    /// Over the gradients of how many steps. A leg copies some of the tensors, and what was copied
    /// before follows by the gradients of the step between.
    int legs = 1;
    /// Not 0: the state moves in so many rounds, after the decision. A round frees what the round
    /// before it has moved, so all participants have to verify that first.
    int rounds = 0;
    /// The last RoundToNote that a coordinator before this one has noted; 0: none.
    int round = 0;
    /// Not empty: a coordinator before this one has given the rounds up, for this reason,
    std::string given_up = {};
    int settled = 0;  // and left the state after so many.
  };
  explicit Coordinator(Setup setup);
  /// A coordinator that was killed and restarted. It writes `abort` to the register, which answers
  /// `commit` if that was decided before.
  static Coordinator Recovered(Setup setup);

  /// Handles one event. Ignores events that do not fit the state, because they are late or
  /// repeated.
  std::vector<CoordinatorAction> On(const CoordinatorEvent& event);

  TxnPhase phase() const { return phase_; }
  /// Whether the transaction can still be rolled back.
  bool can_cancel() const;
  const std::string& reason() const { return reason_; }
  /// The step after which the job waits; set once all ranks have paused.
  std::optional<std::int64_t> step() const { return step_; }
  const std::set<NodeNumber>& participants() const { return setup_.participants; }
  /// Participants that have not answered in the present phase.
  const std::set<NodeNumber>& waiting_for() const { return waiting_; }
  /// Whether all ranks wait.
  bool has_paused() const { return step_ && paused_ == setup_.pausing; }
  /// In the phase of precopies: whether all nodes hold the state that is copied.
  bool is_copying() const { return ahead_ == Ahead::kCopying; }
  /// Which leg is awaited or copied, from 1, and of how many.
  int leg() const { return leg_; }
  int legs() const { return setup_.legs; }
  /// Whether what is copied has followed the gradients of a step, so that no copy was compared with
  /// what the old ranks hold now.
  bool follows() const { return leg_ > 1 && !copies_anew_; }
  /// Whether all of it moves in the pause after all.
  bool copies_anew() const { return copies_anew_; }
  /// The round that moves now, from 1; 0: none.
  int round() const { return phase_ == TxnPhase::kTransferring ? round_ : 0; }
  int rounds() const { return setup_.rounds; }
  /// Whether a node was lost between the first round and the last, so that no layout is whole.
  bool gave_up() const { return gave_up_; }
  /// With gave_up(): as in SendOutcome.
  int settled() const { return settled_; }
  /// Whether the ranks pause before an update instead of after one.
  bool precopies() const { return setup_.precopies; }
  /// Whether ranks continue in the new layout, and only digests are missing.
  bool awaits_digests() const { return awaits_digests_; }

 private:
  using Actions = std::vector<CoordinatorAction>;
  Actions Abort(std::string reason);
  Actions Decide(bool commit);
  Actions Follow(bool commit);
  Actions StartPause();
  /// The ranks, which wait, go on to the next leg.
  Actions StartLeg(int leg);
  Actions StartPrecopy();
  Actions OnReached(NodeNumber node);
  Actions OnPaused(NodePaused event);
  /// The ranks may have paused already.
  Actions AwaitPause();
  /// All have copied the leg, and all ranks wait.
  Actions EndLeg();
  Actions StartTransfer();
  /// Moves the next round, or follows the decision after the last one.
  Actions StartRound();
  Actions GiveUp(std::string reason, int settled);
  Actions OnFollowed();
  /// Ends the transaction.
  /// \pre all participants have followed the outcome
  Actions End();
  /// The request of the present phase to the node.
  CoordinatorAction RequestTo(NodeNumber node) const;
  /// Sends it to `nodes` and waits for their answers.
  Actions Request(std::set<NodeNumber> nodes);
  bool Answered(NodeNumber node, TxnPhase expected);

  Setup setup_;
  TxnPhase phase_ = TxnPhase::kPlanned;
  std::set<NodeNumber> waiting_;
  std::set<NodeNumber> silent_;  // lost, and not back since
  std::set<NodeNumber> paused_;
  std::set<NodeNumber> followed_;  // before this coordinator moved any round
  std::optional<std::int64_t> step_;
  enum class Ahead { kReaching, kCopying, kCopied };
  Ahead ahead_ = Ahead::kReaching;  // of the leg, in the phase of precopies
  int leg_ = 1;
  std::optional<std::int64_t> passed_;  // the step of the pause before this leg
  bool copies_anew_ = false;            // a node could not copy while ranks computed over legs
  bool compared_ = false;
  bool asked_abort_ = false;
  int round_ = 0;  // 0: before the decision
  bool gave_up_ = false;
  int settled_ = 0;
  bool awaits_digests_ = false;
  bool lacks_digests_ = false;  // a node has lost what it knew of the transfer
  std::string reason_;
};

}  // namespace tessera::engine
