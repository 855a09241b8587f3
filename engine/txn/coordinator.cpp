// SPDX-License-Identifier: Apache-2.0
#include "engine/txn/coordinator.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "ptc/base/overloaded.h"

namespace tessera::engine {

Coordinator::Coordinator(Setup setup) : setup_(std::move(setup)), step_(setup_.paused_at) {}

Coordinator Coordinator::Recovered(Setup setup) {
  Coordinator c(std::move(setup));
  c.phase_ = TxnPhase::kCommitting;
  c.asked_abort_ = true;
  c.setup_.digesting.clear();
  c.round_ = std::max(0, c.setup_.round - 1);
  c.reason_ = "the registrar's agent restarted";
  return c;
}

bool Coordinator::can_cancel() const {
  switch (phase_) {
    case TxnPhase::kPlanned:
    case TxnPhase::kPreparing:
    case TxnPhase::kPrecopying:
    case TxnPhase::kPausing:
    case TxnPhase::kVerifying:
      return true;
    case TxnPhase::kTransferring:
      return round_ == 0;
    case TxnPhase::kCommitting:
    case TxnPhase::kResuming:
    case TxnPhase::kDone:
    case TxnPhase::kRollingBack:
    case TxnPhase::kRolledBack:
    case TxnPhase::kFailed:
    case TxnPhase::kNeedsDecision:
    case TxnPhase::kInDoubt:
      return false;
  }
  return false;
}

bool Coordinator::Answered(NodeNumber node, TxnPhase expected) {
  if (phase_ != expected || waiting_.erase(node) == 0) return false;
  return waiting_.empty();
}

Coordinator::Actions Coordinator::Abort(std::string reason) {
  if (!can_cancel()) return {};
  reason_ = std::move(reason);
  return Decide(false);
}

// From here on only the register's answer ends the phase, for `abort` as for `commit`, because a
// participant that gave up may have written `abort` first.
Coordinator::Actions Coordinator::Decide(bool commit) {
  phase_ = TxnPhase::kCommitting;
  asked_abort_ = !commit;
  waiting_.clear();
  return {WriteRegister{commit}};
}

CoordinatorAction Coordinator::RequestTo(NodeNumber node) const {
  if (phase_ == TxnPhase::kPreparing) return SendPrepare{node};
  if (phase_ == TxnPhase::kPrecopying && is_copying()) {
    return SendPrecopy{node, leg_, setup_.legs};
  }
  if (phase_ == TxnPhase::kPrecopying || phase_ == TxnPhase::kPausing) {
    return SendPause{node, setup_.precopies, leg_};
  }
  if (round() > 0) return SendOutcome{node, true, round_};
  if (phase_ == TxnPhase::kTransferring) return SendTransfer{node, *step_, copies_anew_};
  if (phase_ == TxnPhase::kVerifying) return SendVerify{node};
  if (awaits_digests_) return AskDigests{node};
  return SendOutcome{node, phase_ == TxnPhase::kResuming, gave_up_ ? kGivenUp : 0, settled_};
}

Coordinator::Actions Coordinator::Request(std::set<NodeNumber> nodes) {
  waiting_ = std::move(nodes);
  Actions actions;
  for (const NodeNumber node : waiting_) actions.push_back(RequestTo(node));
  return actions;
}

Coordinator::Actions Coordinator::StartPause() {
  if (setup_.paused_at) return StartTransfer();
  phase_ = setup_.precopies ? TxnPhase::kPrecopying : TxnPhase::kPausing;
  return Request(setup_.pausing);
}

Coordinator::Actions Coordinator::StartLeg(int leg) {
  leg_ = leg;
  ahead_ = Ahead::kReaching;
  passed_ = std::exchange(step_, std::nullopt);
  paused_.clear();
  return Request(setup_.pausing);
}

Coordinator::Actions Coordinator::StartPrecopy() {
  ahead_ = Ahead::kCopying;
  return Request(setup_.participants);
}

// No node copies before all hold the state of the same step.
Coordinator::Actions Coordinator::OnReached(NodeNumber node) {
  if (ahead_ != Ahead::kReaching || !Answered(node, TxnPhase::kPrecopying)) return {};
  return StartPrecopy();
}

// All ranks share one step decision, so unequal steps are a bug of the job.
Coordinator::Actions Coordinator::OnPaused(NodePaused e) {
  if (phase_ != TxnPhase::kPausing && phase_ != TxnPhase::kPrecopying) return {};
  if (!setup_.pausing.contains(e.node)) return {};
  if (passed_ && e.step <= *passed_) return {};  // said again, of the leg before
  if (step_ && *step_ != e.step) {
    return Abort(
        fmt::format("n{} paused after step {}, others after step {}", e.node, e.step, *step_));
  }
  step_ = e.step;
  paused_.insert(e.node);
  if (setup_.legs > 1 && !e.has_gradients) copies_anew_ = true;  // there is no further leg
  if (ahead_ == Ahead::kReaching && phase_ == TxnPhase::kPrecopying) return OnReached(e.node);
  if (ahead_ == Ahead::kCopying) return {};
  return Answered(e.node, phase_) ? EndLeg() : Actions{};
}

Coordinator::Actions Coordinator::EndLeg() {
  const bool is_last = !setup_.precopies || copies_anew_ || leg_ == setup_.legs;
  return is_last ? StartTransfer() : StartLeg(leg_ + 1);
}

Coordinator::Actions Coordinator::AwaitPause() {
  ahead_ = Ahead::kCopied;
  if (has_paused()) return EndLeg();
  if (leg_ == setup_.legs || copies_anew_) phase_ = TxnPhase::kPausing;
  std::set<NodeNumber> left;
  std::ranges::set_difference(setup_.pausing, paused_, std::inserter(left, left.end()));
  return Request(std::move(left));
}

Coordinator::Actions Coordinator::StartTransfer() {
  phase_ = TxnPhase::kTransferring;
  if (follows()) setup_.digesting.clear();  // the transfers report the digests
  return Request(setup_.participants);
}

// Silent nodes are waited for too: what the round frees is the only copy of what they lack.
Coordinator::Actions Coordinator::StartRound() {
  std::set<NodeNumber> left;
  std::ranges::set_difference(setup_.participants, followed_, std::inserter(left, left.end()));
  if (round_ == setup_.rounds || left.empty()) return Follow(true);
  phase_ = TxnPhase::kTransferring;
  ++round_;
  return Request(std::move(left));
}

Coordinator::Actions Coordinator::GiveUp(std::string reason, int settled) {
  gave_up_ = true;
  settled_ = settled;
  reason_ = std::move(reason);
  setup_.digesting.clear();
  return Follow(true);
}

Coordinator::Actions Coordinator::Follow(bool commit) {
  phase_ = commit ? TxnPhase::kResuming : TxnPhase::kRollingBack;
  if (commit && !gave_up_) reason_.clear();
  if (!commit && reason_.empty()) reason_ = "a participant gave up waiting";
  // A lost node is not waited for: it learns the outcome when it comes back.
  std::set<NodeNumber> there;
  for (const NodeNumber node : setup_.participants) {
    if (!silent_.contains(node)) there.insert(node);
  }
  Actions actions = Request(std::move(there));
  if (waiting_.empty()) {
    for (auto& action : OnFollowed()) actions.push_back(std::move(action));
  }
  return actions;
}

Coordinator::Actions Coordinator::OnFollowed() {
  Actions actions;
  for (const NodeNumber node : setup_.participants) actions.push_back(SendGo{node});
  const auto is_silent = [this](NodeNumber node) { return silent_.contains(node); };
  const bool can_report = !lacks_digests_ && !setup_.digesting.empty() &&
                          std::ranges::none_of(setup_.digesting, is_silent);
  if (phase_ == TxnPhase::kResuming && can_report) {
    awaits_digests_ = true;
    waiting_ = setup_.digesting;
    return actions;
  }
  for (auto& action : End()) actions.push_back(std::move(action));
  return actions;
}

Coordinator::Actions Coordinator::End() {
  const bool committed = phase_ == TxnPhase::kResuming;
  phase_ = committed ? TxnPhase::kDone : TxnPhase::kRolledBack;
  awaits_digests_ = false;
  waiting_.clear();
  return {Finish{committed, reason_}};
}

Coordinator::Actions Coordinator::On(const CoordinatorEvent& event) {
  return std::visit(
      Overloaded{
          [&](const Begin&) -> Actions {
            if (phase_ != TxnPhase::kPlanned) return {};
            phase_ = TxnPhase::kPreparing;
            return Request(setup_.participants);
          },
          // The job pauses only after all joining ranks have started and all groups are built.
          [&](const NodePrepared& e) -> Actions {
            if (phase_ == TxnPhase::kPreparing) {
              setup_.precopies &= e.can_precopy;
              if (!e.can_follow) setup_.legs = 1;
            }
            return Answered(e.node, TxnPhase::kPreparing) ? StartPause() : Actions{};
          },
          [&](const NodeRefused& e) -> Actions {
            return phase_ == TxnPhase::kPreparing
                       ? Abort(fmt::format("n{} refused: {}", e.node, e.reason))
                       : Actions{};
          },
          [&](const NodeReached& e) -> Actions {
            return e.leg == leg_ ? OnReached(e.node) : Actions{};
          },
          // Without legs each node copies alone in the pause what it could not copy before.
          [&](const NodePrecopied& e) -> Actions {
            if (!is_copying() || e.leg != leg_) return {};
            if (setup_.legs > 1 && !e.is_whole) copies_anew_ = true;
            return Answered(e.node, TxnPhase::kPrecopying) ? AwaitPause() : Actions{};
          },
          [&](const NodePaused& e) -> Actions { return OnPaused(e); },
          [&](const NodeTransferred& e) -> Actions {
            if (!Answered(e.node, TxnPhase::kTransferring)) return {};
            phase_ = TxnPhase::kVerifying;
            return {CompareDigests{}};
          },
          [&](const NodeTransferFailed& e) -> Actions {
            return Abort(fmt::format("n{}: {}", e.node, e.reason));
          },
          [&](const DigestsCompared& e) -> Actions {
            if (phase_ != TxnPhase::kVerifying || compared_) return {};
            if (!e.equal) return Abort(e.difference);
            compared_ = true;
            return Request(setup_.participants);
          },
          // Commit may be written only when every participant has journaled `verified`.
          [&](const NodeVerified& e) -> Actions {
            return compared_ && Answered(e.node, TxnPhase::kVerifying) ? Decide(true) : Actions{};
          },
          [&](const RegisterAnswered& e) -> Actions {
            if (phase_ != TxnPhase::kCommitting) return {};
            if (!e.commit || setup_.rounds == 0) return Follow(e.commit);
            if (!setup_.given_up.empty()) return GiveUp(setup_.given_up, setup_.settled);
            reason_.clear();
            return StartRound();
          },
          // The barrier of a round: nothing is freed before all have verified it.
          [&](const NodeMoved& e) -> Actions {
            if (round() == 0 || e.round != round_) return {};
            return Answered(e.node, TxnPhase::kTransferring) ? StartRound() : Actions{};
          },
          [&](const NodeGone& e) -> Actions {
            if (!setup_.participants.contains(e.node)) return {};
            if (round() == 0) return On(NodeSilent{e.node, e.reason});
            silent_.insert(e.node);
            return GiveUp(e.reason, round_ - 1);
          },
          // The barrier of both outcomes: ranks resume only after all participants except silent
          // ones have followed.
          [&](const NodeFollowed& e) -> Actions {
            if (round() > 0 && setup_.participants.contains(e.node)) {
              // It has forgotten the transaction: a registrar before this one has ended the rounds.
              followed_.insert(e.node);
              return Answered(e.node, TxnPhase::kTransferring) ? StartRound() : Actions{};
            }
            if (phase_ != TxnPhase::kResuming && phase_ != TxnPhase::kRollingBack) return {};
            if (awaits_digests_) return {SendGo{e.node}};  // which it has missed
            return Answered(e.node, phase_) ? OnFollowed() : Actions{};
          },
          [&](const NodeRestarted& e) -> Actions {
            if (!setup_.participants.contains(e.node)) return {};
            if (setup_.digesting.contains(e.node)) lacks_digests_ = true;
            // The next agent follows the outcome again if its journal has the transaction.
            if (awaits_digests_) return lacks_digests_ ? End() : Actions{SendOutcome{e.node, true}};
            if (phase_ == TxnPhase::kResuming || phase_ == TxnPhase::kRollingBack) {
              return On(NodeReconnected{e.node});
            }
            if (round() > 0) return On(NodeReconnected{e.node});
            silent_.erase(e.node);
            // A journaled `verified` survives the restart, even if the answer was lost.
            if (e.verified) return On(NodeVerified{e.node});
            return Abort(fmt::format("the agent of n{} restarted", e.node));
          },
          // A participant gives the same answer to a repeated request. A participant that was
          // silent has missed the outcome; from now on the barrier includes it again.
          [&](const NodeReconnected& e) -> Actions {
            if (!setup_.participants.contains(e.node)) return {};
            const bool follows = phase_ == TxnPhase::kResuming || phase_ == TxnPhase::kRollingBack;
            const bool was_silent = silent_.erase(e.node) > 0;
            if (was_silent && awaits_digests_) return {SendOutcome{e.node, true}};
            if (awaits_digests_) {
              Actions actions{SendGo{e.node}};
              if (waiting_.contains(e.node)) actions.push_back(RequestTo(e.node));
              return actions;
            }
            // Others may need the cells of a node that has answered: a restarted agent offers them
            // once it hears of the round.
            if (round() > 0) return {RequestTo(e.node)};
            if (was_silent && follows) waiting_.insert(e.node);
            return waiting_.contains(e.node) ? Actions{RequestTo(e.node)} : Actions{};
          },
          [&](const RankLost& e) -> Actions {
            // The job needs the registrar more than the record needs the digests.
            if (awaits_digests_) return End();
            return Abort(e.joining ? fmt::format("a joining rank was lost: {}", e.reason) : e.reason);
          },
          // The loss of a node does not change the outcome. The registrar handles the loss after
          // the transaction.
          [&](const NodeSilent& e) -> Actions {
            if (!setup_.participants.contains(e.node)) return {};
            silent_.insert(e.node);
            if (round() > 0) return {};
            if (awaits_digests_) return waiting_.contains(e.node) ? End() : Actions{};
            if (phase_ == TxnPhase::kRollingBack || phase_ == TxnPhase::kResuming) {
              return Answered(e.node, phase_) ? OnFollowed() : Actions{};
            }
            return Abort(!setup_.pausing.contains(e.node)
                             ? fmt::format("a joining node was lost: {}", e.reason)
                             : e.reason);
          },
          [&](const PauseOverdue& e) -> Actions {
            const bool awaits = phase_ == TxnPhase::kPausing || phase_ == TxnPhase::kPrecopying;
            return awaits && !has_paused() ? Abort(e.reason) : Actions{};
          },
          [&](const CancelRequested& e) -> Actions { return Abort(e.reason); },
          [&](const NodeDigested& e) -> Actions {
            if (!awaits_digests_) return {};
            if (!e.has_digests) return End();
            return Answered(e.node, TxnPhase::kResuming) ? End() : Actions{};
          },
          [&](const DigestsOverdue&) -> Actions { return awaits_digests_ ? End() : Actions{}; },
      },
      event);
}

}  // namespace tessera::engine
