// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The role of one node in a transaction: a state machine without I/O. Messages of the registrar
/// and results of local ranks and transfers are its events. The agent carries out its actions in
/// order.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ptc/base/result.h"

namespace tessera::engine {

/// The journal stores these numbers: never renumber.
enum class ParticipantState : std::uint8_t {
  kIdle = 0,
  kPreparing = 1,  // checking the plan, starting ranks, building groups
  kPrepared = 2,
  kTransferring = 3,
  kTransferred = 4,
  kVerified = 5,   // from here on only the register decides the outcome
  kCommitted = 6,  // flipped or flipping
  kAborted = 7,
};
std::string_view ToString(ParticipantState state);
Result<ParticipantState> ParseParticipantState(std::uint32_t number);

// ---- events
struct PrepareRequested {};
/// Plan, memory and hashes are checked and memory is reserved, or the reason why not.
struct LocalChecked {
  Status status;
};
/// Every local rank of the next epoch has built its groups, or the reason why one could not.
struct RanksConnected {
  Status status;
};
/// `before_update`: as in SendPause of the coordinator.
struct PauseRequested {
  std::int64_t at_step;
  bool before_update = false;
  int leg = 1;
};
/// The devices of this node hold the state that is to be copied while their ranks compute.
struct StateReached {
  int leg = 1;
};
struct PrecopyRequested {
  std::int64_t step;
  int leg = 1, legs = 1;
};
struct PrecopyEnded {
  bool is_whole = true;
};
struct RanksPaused {
  std::int64_t step;
};
struct TransferRequested {};
struct TransferEnded {
  Status status;
};
struct VerifyRequested {};
/// The outcome in the register.
struct OutcomeReceived {
  bool commit;
  int round = 0, settled = 0;  // as in SendOutcome of the coordinator
};
/// The cells of the round are copied and compared, or the reason why not.
struct RoundEnded {
  int round;
  Status status;
};
/// All local ranks of the new epoch have rebuilt their views.
struct RanksAttached {};
/// Joining ranks and the transfer of an aborted transaction have ended.
struct CleanedUp {};
struct GoReceived {};
/// No message from the registrar for 15 s.
struct RegistrarSilent {};
/// No message about this transaction for 5 s: one may have been lost.
struct NoWord {};
/// The journal refused `state`, which is then no promise.
struct JournalFailed {
  ParticipantState state;
  Status status;
};
using ParticipantEvent =
    std::variant<PrepareRequested, LocalChecked, RanksConnected, PauseRequested, StateReached,
                 PrecopyRequested, PrecopyEnded, RanksPaused, TransferRequested, TransferEnded,
                 VerifyRequested, OutcomeReceived, RanksAttached, CleanedUp, GoReceived,
                 RegistrarSilent, NoWord, JournalFailed, RoundEnded>;

// ---- actions
struct CheckAndReserve {};
struct ConnectRanks {};
/// With a leg after the first, and only once: keeps the gradients, and then lets the ranks go on.
struct RaiseRequest {
  std::int64_t at_step;
  bool before_update = false;
  int leg = 1;
};
/// Copy the state after `step` while ranks compute. What cannot be copied so moves in the pause.
struct RunPrecopy {
  std::int64_t step;
  int leg = 1, legs = 1;
};
struct RunTransfer {};
/// Write the state to the journal, durably, before the next action. If it refuses kPreparing,
/// kPrepared or kVerified, drop the further actions; JournalFailed is the result.
struct JournalState {
  ParticipantState state;
  int moved = 0;  // the last round that is verified here
};
/// Make the table after the round before current, which frees what that round has moved, and copy
/// the cells of this one. RoundEnded is the result.
struct RunRound {
  int round;
};
/// Others may still copy cells of this round from here: an agent that has restarted offers them
/// again.
struct OfferRound {
  int round;
};
/// Leave the state as it is after so many rounds, which are verified here: make the table after
/// them current, unless it is.
struct Settle {
  int rounds;
};
/// Report to the registrar. `kind` as in wire TxnReport.
enum class ReportKind : std::uint8_t {
  kPrepared,
  kRefused,
  kPaused,
  kTransferred,
  kTransferFailed,
  kVerified,
  kCommitted,
  kAborted,
  kReached,
  kPrecopied,
  kMoved
};
struct Report {
  ReportKind kind;
  std::string reason;
  std::int64_t step;
  int round = 0;         // of kMoved; of kReached and kPrecopied the leg
  bool is_whole = true;  // of kPrecopied
};
/// Make the new piece tables current (one store per device) and send ranks the command to adopt.
struct FlipAndAdopt {};
/// Stop the transfer, abandon the groups of the next epoch, kill joining ranks.
struct CleanUp {};
/// Release ranks of the new epoch to take steps; end ranks that left the job.
struct ReleaseRanks {};
/// Release ranks of the old epoch to take steps again.
struct ResumeOld {};
/// Read the register, or write `abort` to it because this node gives up waiting. OutcomeReceived is
/// the result if the register holds a decision.
struct ReadRegister {
  bool write_abort;
};
/// Forget the transaction.
struct Forget {};
/// Stop the agent: the outcome contradicts what this node has promised, which only a fault of disk
/// or memory can cause. Nothing is flipped.
struct Halt {
  std::string reason;
};
using ParticipantAction =
    std::variant<CheckAndReserve, ConnectRanks, RaiseRequest, RunPrecopy, RunTransfer, JournalState,
                 Report, FlipAndAdopt, CleanUp, ReleaseRanks, ResumeOld, ReadRegister, Forget, Halt,
                 RunRound, OfferRound, Settle>;

class Participant {
 public:
  /// `rounds`: in which the state moves after the decision; 0: it moves before.
  explicit Participant(int rounds = 0) : rounds_(rounds) {}
  /// A participant whose agent was killed after it journaled `state`. Before kVerified it must
  /// abort: it reports nothing and waits for the outcome. `moved`: as in JournalState.
  static Participant Recovered(ParticipantState state, int rounds = 0, int moved = 0);

  /// Handles one event. Ignores events that do not fit the state. Answers a repeated request again,
  /// because the answer may have been lost with a connection.
  std::vector<ParticipantAction> On(const ParticipantEvent& event);
  ParticipantState state() const { return state_; }
  /// Whether the rounds cannot be ended, and what is left of them is cleaned up.
  bool gave_up() const { return gave_up_; }
  /// Whether the outcome is carried out and reported. Only the barrier is left.
  bool followed() const { return followed_; }

 private:
  std::vector<ParticipantAction> Fail(ReportKind kind, const Status& status);
  std::vector<ParticipantAction> ReportFailure() const;
  /// Whether it is in `state` and does its part. An agent that has restarted does not know how far
  /// the ranks and the copies of the one before it have come.
  bool TakesPart(ParticipantState state) const { return state_ == state && !must_abort_; }
  Report Precopied() const { return {ReportKind::kPrecopied, {}, 0, leg_, is_whole_}; }
  std::vector<ParticipantAction> FollowCommit(const OutcomeReceived& outcome, bool is_first);

  int rounds_;
  int moved_ = 0;  // rounds that are verified here and journaled
  bool round_runs_ = false;
  bool gave_up_ = false;
  ParticipantState state_ = ParticipantState::kIdle;
  std::optional<Report> failure_;  // of prepare or transfer, while the outcome is pending
  enum class Precopy { kNone, kRuns, kEnded };
  Precopy precopy_ = Precopy::kNone;  // of the leg
  int leg_ = 1;
  bool is_whole_ = true;     // what was copied in it
  bool followed_ = false;    // the outcome is carried out and reported
  bool must_abort_ = false;  // it was restarted before it had verified
};

}  // namespace tessera::engine
