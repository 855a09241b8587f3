// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// One node's part in a reconfiguration: a state machine without I/O. The agent feeds it what the
/// registrar says and what its own ranks and transfers do, and carries out the actions in order.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ptc/base/result.h"

namespace tessera::engine {

/// Journaled under these numbers: never renumber.
enum class ParticipantState : std::uint8_t {
  kIdle = 0,
  kPreparing = 1,  // checking the plan, starting ranks, building groups
  kPrepared = 2,
  kTransferring = 3,
  kTransferred = 4,
  kVerified = 5,   // from here on only the register knows the outcome
  kCommitted = 6,  // flipped or flipping
  kAborted = 7,
};
std::string_view ToString(ParticipantState state);
Result<ParticipantState> ParseParticipantState(std::uint32_t number);

// ---- events
struct PrepareAsked {};
/// Plan, memory and hash were checked and staging is reserved, or why not.
struct LocalChecked {
  Status status;
};
/// Every local rank of the coming epoch has built its groups, or why one could not.
struct RanksConnected {
  Status status;
};
struct PauseAsked {
  std::int64_t at_step;
};
struct RanksPaused {
  std::int64_t step;
};
struct TransferAsked {};
struct TransferEnded {
  Status status;
};
struct VerifyAsked {};
/// What the register holds.
struct OutcomeTold {
  bool commit;
};
/// All local ranks of the new epoch have rebuilt their views.
struct RanksAttached {};
/// Joining ranks and the transfer of an aborted transaction are gone.
struct CleanedUp {};
struct GoTold {};
/// The registrar was silent for 15 s.
struct RegistrarSilent {};
using ParticipantEvent =
    std::variant<PrepareAsked, LocalChecked, RanksConnected, PauseAsked, RanksPaused, TransferAsked,
                 TransferEnded, VerifyAsked, OutcomeTold, RanksAttached, CleanedUp, GoTold,
                 RegistrarSilent>;

// ---- actions
struct CheckAndReserve {};
struct ConnectRanks {};
struct RaiseRequest {
  std::int64_t at_step;
};
struct RunTransfer {};
/// Write the state to the journal, durably, before the next action.
struct JournalState {
  ParticipantState state;
};
/// Tell the registrar. `kind` as in wire TxnReport.
enum class ReportKind : std::uint8_t {
  kPrepared,
  kRefused,
  kPaused,
  kTransferred,
  kTransferFailed,
  kVerified,
  kCommitted,
  kAborted
};
struct Report {
  ReportKind kind;
  std::string reason;
  std::int64_t step;
};
/// Publish the new piece tables (one store a device) and tell ranks to adopt.
struct FlipAndAdopt {};
/// Stop the transfer, abandon the coming groups, kill joining ranks.
struct CleanUp {};
/// Let ranks of the new epoch take steps; dismiss those that left.
struct LetGo {};
/// Let ranks of the old epoch take steps again.
struct ResumeOld {};
/// Ask the register; `write_abort` if this node may still abort alone.
struct AskRegister {
  bool write_abort;
};
/// Forget the transaction.
struct Forget {};
using ParticipantAction =
    std::variant<CheckAndReserve, ConnectRanks, RaiseRequest, RunTransfer, JournalState, Report,
                 FlipAndAdopt, CleanUp, LetGo, ResumeOld, AskRegister, Forget>;

class Participant {
 public:
  Participant() = default;
  /// One whose agent died after journaling `state`. Before kVerified it must abort: it reports
  /// nothing and waits for the outcome.
  static Participant Recovered(ParticipantState state);

  /// Handles one event; events that do not fit the state are ignored. A request that comes again
  /// before the next one is answered again: the answer may have been lost with a connection.
  std::vector<ParticipantAction> On(const ParticipantEvent& event);
  ParticipantState state() const { return state_; }
  /// Whether the outcome was carried out and reported: what is left is the barrier.
  bool followed() const { return followed_; }

 private:
  std::vector<ParticipantAction> Fail(ReportKind kind, const Status& status);
  std::vector<ParticipantAction> SayFailure() const;

  ParticipantState state_ = ParticipantState::kIdle;
  std::optional<Report> failure_;  // to prepare, or to transfer: the outcome is still to come
  bool followed_ = false;          // the outcome was carried out and reported
};

}  // namespace tessera::engine
