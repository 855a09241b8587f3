// SPDX-License-Identifier: Apache-2.0
#include "engine/txn/participant.h"

#include <fmt/format.h>

#include <utility>

#include "engine/txn/coordinator.h"
#include "ptc/base/enum_names.h"
#include "ptc/base/overloaded.h"

namespace tessera::engine {

using State = ParticipantState;
using Actions = std::vector<ParticipantAction>;

constexpr EnumNames kParticipantStates(State::kAborted,
                                       {"idle", "preparing", "prepared", "transferring",
                                        "transferred", "verified", "committed", "aborted"});
std::string_view ToString(ParticipantState state) { return kParticipantStates.Of(state); }

Result<ParticipantState> ParseParticipantState(std::uint32_t number) {
  if (number > static_cast<std::uint32_t>(State::kAborted)) {
    return InvalidArgument(
        fmt::format("participant state {} is above {}", number, static_cast<int>(State::kAborted)));
  }
  return static_cast<ParticipantState>(number);
}

Participant Participant::Recovered(ParticipantState state, int rounds, int moved) {
  Participant p(rounds);
  p.moved_ = moved;
  p.state_ = state;
  p.must_abort_ = state < State::kVerified;
  return p;
}

std::vector<ParticipantAction> Participant::Fail(ReportKind kind, const Status& status) {
  failure_ = Report{kind, status.error().ToString(), 0};
  return {*failure_};
}

std::vector<ParticipantAction> Participant::ReportFailure() const {
  return failure_ ? Actions{*failure_} : Actions{};
}

// A journaled round is never copied again, because other nodes may have freed its sources. A round
// that is not journaled was never reported, so its sources still exist.
std::vector<ParticipantAction> Participant::FollowCommit(const OutcomeReceived& outcome,
                                                         bool is_first) {
  const int round = outcome.round;
  if (gave_up_ && round >= 0) return {};
  Actions actions;
  if (is_first) actions.push_back(JournalState{state_, moved_});
  if (round == kGivenUp && outcome.settled > moved_) {
    return {Halt{fmt::format("the state is left after {} rounds, but this node has verified {}",
                             outcome.settled, moved_)}};
  }
  // A node that receives the outcome without a round has missed that the rounds were given up, and
  // its job has ended since: what it holds is of no use.
  if (round == kGivenUp || (round == 0 && moved_ < rounds_)) {
    gave_up_ = true;
    if (round == kGivenUp) {
      // A round after them does not count, also not for an agent after this one.
      moved_ = outcome.settled;
      actions.push_back(JournalState{state_, moved_});
      actions.push_back(Settle{moved_});
    }
    actions.push_back(CleanUp{});
  } else if (round == 0) {
    actions.push_back(FlipAndAdopt{});
  } else if (round > 0 && round <= moved_) {
    actions.push_back(Report{ReportKind::kMoved, {}, 0, round});
    if (round == moved_) actions.push_back(OfferRound{round});
  } else if (round == moved_ + 1 && round <= rounds_) {
    if (!std::exchange(round_runs_, true)) {
      actions.push_back(RunRound{round});
    }
  } else {
    return {Halt{fmt::format("round {} is to be moved, but this node has verified {} of {}", round,
                             moved_, rounds_)}};
  }
  return actions;
}

std::vector<ParticipantAction> Participant::On(const ParticipantEvent& event) {
  return std::visit(
      Overloaded{
          // A plan that cannot be carried out is not journaled: a restarted agent could not
          // recover.
          [&](const PrepareRequested&) -> Actions {
            if (must_abort_) return {Report{ReportKind::kRefused, "the agent restarted", 0}};
            if (state_ == State::kPreparing) return ReportFailure();
            if (state_ == State::kPrepared) return {Report{ReportKind::kPrepared, {}, 0}};
            if (state_ != State::kIdle) return {};
            state_ = State::kPreparing;
            return {CheckAndReserve{}};
          },
          [&](const LocalChecked& e) -> Actions {
            if (state_ != State::kPreparing) return {};
            if (!e.status) return Fail(ReportKind::kRefused, e.status);
            return {JournalState{state_}, ConnectRanks{}};
          },
          [&](const RanksConnected& e) -> Actions {
            if (!TakesPart(State::kPreparing)) return {};
            if (!e.status) return Fail(ReportKind::kRefused, e.status);
            state_ = State::kPrepared;
            return {JournalState{state_}, Report{ReportKind::kPrepared, {}, 0}};
          },
          // The request word may be set, because the transaction is journaled since LocalChecked.
          [&](const PauseRequested& e) -> Actions {
            if (!TakesPart(State::kPrepared)) return {};
            return {RaiseRequest{e.at_step, e.before_update, e.leg}};
          },
          [&](const StateReached& e) -> Actions {
            return state_ == State::kPrepared ? Actions{Report{ReportKind::kReached, {}, 0, e.leg}}
                                              : Actions{};
          },
          [&](const PrecopyRequested& e) -> Actions {
            if (!TakesPart(State::kPrepared)) return {};
            if (precopy_ == Precopy::kRuns || e.leg < leg_) return {};
            if (e.leg > leg_) precopy_ = Precopy::kNone;
            leg_ = e.leg;
            if (precopy_ == Precopy::kEnded) return {Precopied()};
            precopy_ = Precopy::kRuns;
            return {RunPrecopy{e.step, e.leg, e.legs}};
          },
          [&](const PrecopyEnded& e) -> Actions {
            if (precopy_ != Precopy::kRuns) return {};
            precopy_ = Precopy::kEnded;
            is_whole_ = e.is_whole;
            return state_ == State::kPrepared ? Actions{Precopied()} : Actions{};
          },
          [&](const RanksPaused& e) -> Actions {
            return state_ == State::kPrepared ? Actions{Report{ReportKind::kPaused, {}, e.step}}
                                              : Actions{};
          },
          [&](const TransferRequested&) -> Actions {
            if (state_ == State::kTransferring) return ReportFailure();
            if (state_ == State::kTransferred) return {Report{ReportKind::kTransferred, {}, 0}};
            if (!TakesPart(State::kPrepared)) return {};
            state_ = State::kTransferring;
            return {RunTransfer{}};
          },
          [&](const TransferEnded& e) -> Actions {
            if (state_ != State::kTransferring) return {};
            if (!e.status) return Fail(ReportKind::kTransferFailed, e.status);
            state_ = State::kTransferred;
            return {Report{ReportKind::kTransferred, {}, 0}};
          },
          // Once this is journaled, the participant cannot abort by itself: it follows the
          // register.
          [&](const VerifyRequested&) -> Actions {
            if (state_ == State::kTransferring) return ReportFailure();  // of the journal
            // The journal has it. Another write that failed would take the promise back.
            if (state_ == State::kVerified) return {Report{ReportKind::kVerified, {}, 0}};
            if (state_ != State::kTransferred) return {};
            state_ = State::kVerified;
            return {JournalState{state_}, Report{ReportKind::kVerified, {}, 0}};
          },
          // Repeated after a restart of either side. Flip and clean-up are idempotent.
          [&](const OutcomeReceived& e) -> Actions {
            if (followed_ && e.commit == (state_ == State::kCommitted)) {
              return {Report{e.commit ? ReportKind::kCommitted : ReportKind::kAborted, {}, 0}};
            }
            // `commit` is written only after this node has journaled `verified`.
            const bool may_commit = state_ == State::kVerified || state_ == State::kCommitted;
            const bool may_abort = state_ != State::kCommitted;
            if (e.commit ? !may_commit : !may_abort) {
              return {Halt{fmt::format("the register holds '{}', but this node is '{}'",
                                       e.commit ? "commit" : "abort", ToString(state_))}};
            }
            const bool is_first = state_ != (e.commit ? State::kCommitted : State::kAborted);
            state_ = e.commit ? State::kCommitted : State::kAborted;
            if (e.commit && rounds_ > 0) return FollowCommit(e, is_first);
            if (e.commit) return {JournalState{state_}, FlipAndAdopt{}};
            return {JournalState{state_}, CleanUp{}};
          },
          [&](const RoundEnded& e) -> Actions {
            if (!round_runs_ || e.round != moved_ + 1 || gave_up_) return {};
            round_runs_ = false;
            if (!e.status) return {};  // the request is repeated
            moved_ = e.round;
            return {JournalState{state_, moved_}, Report{ReportKind::kMoved, {}, 0, moved_}};
          },
          [&](const RanksAttached&) -> Actions {
            if (state_ != State::kCommitted || followed_) return {};
            followed_ = true;
            return {Report{ReportKind::kCommitted, {}, 0}};
          },
          [&](const CleanedUp&) -> Actions {
            if ((state_ != State::kAborted && !gave_up_) || followed_) return {};
            followed_ = true;
            return {Report{gave_up_ ? ReportKind::kCommitted : ReportKind::kAborted, {}, 0}};
          },
          [&](const GoReceived&) -> Actions {
            // Of a move in rounds it may have missed the last outcome, while it was out of reach:
            // without that it has neither the new layout nor what is left after rounds.
            if (state_ == State::kCommitted && rounds_ > 0 && !followed_) {
              return {ReadRegister{false}};
            }
            if (gave_up_) return {Forget{}};  // the registrar ends the ranks
            if (state_ == State::kCommitted) return {ReleaseRanks{}, Forget{}};
            if (state_ == State::kAborted) return {ResumeOld{}, Forget{}};
            return {};
          },
          [&](const RegistrarSilent&) -> Actions {
            if (state_ == State::kIdle || state_ == State::kCommitted ||
                state_ == State::kAborted) {
              return {};
            }
            return {ReadRegister{true}};
          },
          [&](const NoWord&) -> Actions {
            return state_ == State::kIdle || followed_ ? Actions{} : Actions{ReadRegister{false}};
          },
          [&](const JournalFailed& e) -> Actions {
            if (state_ != e.state) return {};
            if (gave_up_) return {};            // that is said again
            if (state_ == State::kCommitted) {  // of a round: it is copied again
              --moved_;
              return {};
            }
            if (state_ == State::kPreparing || state_ == State::kPrepared) {
              state_ = State::kPreparing;
              return Fail(ReportKind::kRefused, e.status);
            }
            if (state_ != State::kVerified) return {};
            state_ = State::kTransferring;  // the failure answers a repeated request
            return Fail(ReportKind::kTransferFailed, e.status);
          },
      },
      event);
}

}  // namespace tessera::engine
