// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// One transaction at a node: carries out the actions of its TransactionPart, and returns their
/// results as events.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "agents/job/rank_protocol.h"
#include "agents/move/device_store.h"
#include "agents/net/timers.h"
#include "agents/node/adoption.h"
#include "agents/node/change_ranks.h"
#include "agents/node/change_transfer.h"
#include "agents/node/committed_digests.h"
#include "agents/node/device_meeting.h"
#include "agents/node/held_jobs.h"
#include "agents/node/job_pauses.h"
#include "agents/node/node_links.h"
#include "agents/node/node_world.h"
#include "agents/node/prepared_change.h"
#include "agents/node/rank_starter.h"
#include "agents/node/rank_table.h"
#include "agents/node/repetition.h"
#include "agents/node/step_reports.h"
#include "agents/node/transaction_part.h"
#include "agents/node/uplink.h"
#include "agents/wire/tessera/wire/node.pb.h"
#include "engine/txn/participant.h"
#include "ptc/base/result.h"

namespace tessera::agents {

/// PreparedChange has what changes. ChangeRanks, ChangeTransfer and Adoption make the change; their
/// results become events of the TransactionPart.
/// \threadsafety The loop's thread.
class NodeTransaction {
 public:
  /// All parts outlive the transaction.
  struct World {
    Timers& timers;
    const NodeWorld& machine;
    const NodeLinks& links;
    DeviceStore& devices;
    RankTable& ranks;
    HeldJobs& jobs;
    RankStarter& starter;
    JobPauses& pauses;
    StepReports& steps;
    CommittedDigests& digests;
    const Uplink& uplink;
    RendezvousRelay& rendezvous;
    /// The transaction is over here. The call may destroy it.
    std::function<void(bool stay_paused, bool has_rows)> forgotten = {};
  };

  /// `recovered`: the state that an earlier agent has journaled. Then Recover is called next.
  /// \pre `world` outlives the transaction
  NodeTransaction(const World& world, const wire::Prepare& prepare,
                  std::optional<engine::ParticipantState> recovered = std::nullopt, int moved = 0);
  NodeTransaction(const NodeTransaction&) = delete;
  NodeTransaction& operator=(const NodeTransaction&) = delete;

  /// \error as PreparedChange::Build
  Status Recover();

  const wire::Prepare& prepare() const { return change_.prepare(); }
  engine::ParticipantState state() const { return part_.state(); }
  /// As PreparedChange::Participants.
  std::set<std::int32_t> Participants() const { return change_.Participants(); }
  /// Whether the transaction starts this rank.
  bool Joins(const RankId& id) const { return change_.Joins(id); }
  /// When the registrar last sent something about the transaction.
  Timers::Clock::time_point last_word() const { return last_word_; }

  /// Notes that the registrar has sent something about the transaction.
  void NoteWord();
  void Feed(engine::ParticipantEvent event) { part_.Feed(std::move(event)); }
  void OnPrecopy(const engine::PrecopyRequested& leg, const wire::StepDecision& followed) {
    part_.OnPrecopy(leg, followed);
  }
  /// \pre !message.precopy()
  void OnTransfer(const wire::Transfer& message);
  /// \param round, settled as TransactionPart::OnDecision
  void OnDecision(const engine::Decision& decision, std::optional<int> round = std::nullopt,
                  int settled = 0) {
    part_.OnDecision(decision, round, settled);
  }
  /// How the other nodes are reached from now on.
  void SetPeers(const google::protobuf::RepeatedPtrField<wire::Peer>& peers) {
    change_.SetPeers(peers);
  }
  /// The only call that may end the transaction.
  void OnGo(bool stay_paused) { part_.OnGo(stay_paused); }

  /// A rank of the job has attached to this agent.
  void OnRankAttached();
  /// A rank of the job has built the groups of `reached`, or failed to.
  void OnRankConnected(const Attempt& reached, const Status& status);
  /// A rank of the job has a step decision.
  void OnRankDecided() { LookForState(); }
  /// A rank of the job waits.
  void OnRankPaused(const RankId& id);
  /// A rank of the job has adopted the new epoch.
  void OnRankAdopted() { CheckAdopted(); }
  /// A rank of this node has ended.
  void OnRankEnded();

  /// Each second: repeats what was not answered, and looks for ranks that hang.
  void Beat();
  /// Reports again what this node has done last, if nothing was heard since.
  void RepeatReport();
  void SendProgress() { transfer_.SendProgress(false); }

 private:
  TransactionPart MakePart(std::optional<engine::ParticipantState> recovered, int moved);
  TransactionPart::World WorldOfPart();
  Status CheckAndReserve();
  /// Waits for ranks that attach, for kLongestAttaching at most.
  void ConnectRanks();
  void ConnectAwaited();
  void CheckAttached();
  void CheckConnected();
  void RaiseRequest(const engine::RaiseRequest& request);
  void Raise(const engine::RaiseRequest& request);
  /// Whether the devices have the state that is awaited. Looks again while an update is made.
  void LookForState();
  void RunPrecopy(const engine::RunPrecopy& leg, const wire::StepDecision& followed);
  /// No rank may write state that is copied.
  Status CheckRanksWait() const;
  void RunTransfer(std::int64_t step, const wire::StepDecision& pending, bool anew);
  void RunRound(int round, std::int64_t step);
  void OfferRound(int round, std::int64_t step);
  void Settle(int rounds, std::int64_t step);
  void EndRound(int round, const Status& status);
  void SendReport(const engine::Report& report);
  /// The decision whose update the paused ranks have not made.
  void AddPending(wire::TxnReport* report) const;
  void Flip(std::int64_t step);
  void Release(bool stay_paused);
  void SendAdopt();
  void CheckAdopted();
  void CleanUp();
  void CheckCleanedUp();
  /// Asks the registrar, and the register itself where this node reaches it.
  void Ask(bool write_abort);
  void AskRegister(bool write_abort);
  /// Ends this agent. Its keeper starts another.
  void Halt(const std::string& why);

  const World& world_;
  PreparedChange change_;
  ChangeRanks ranks_;
  ChangeTransfer transfer_;
  DeviceMeeting meeting_;
  Adoption adoption_;
  TransactionPart part_;
  std::int64_t step_ = 0;                // of the state after the flip
  std::optional<std::int64_t> awaited_;  // the step whose state is to be copied while ranks compute
  int leg_ = 1;                          // for which it is
  bool saves_ = false;                   // gradients, before the ranks go on
  bool waits_for_memory_ = true;         // of new pieces, before it is prepared
  bool waits_for_ranks_ = false;         // that attach, before they connect
  std::chrono::duration<double> kept_{};  // for so long, the last time
  bool looks_again_ = false;              // soon
  std::string round_problem_;             // of the last attempt at a round, reported once
  Timers::Clock::time_point last_word_;
  Repetition repeats_;  // of the last report, if nothing is heard
  bool asks_register_ = false;
  std::shared_ptr<const bool> alive_ = std::make_shared<bool>(true);  // for answers
};

}  // namespace tessera::agents
