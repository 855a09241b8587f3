// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Changes of jobs: begins transactions, carries out the actions of engine::Coordinator, and
/// records the outcome. At most one runs at a time.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "agents/registrar/acts.h"
#include "agents/registrar/decisions.h"
#include "agents/registrar/documents.h"
#include "agents/registrar/job_table.h"
#include "agents/registrar/link_survey.h"
#include "agents/registrar/pending_reply.h"
#include "agents/registrar/plan_desk.h"
#include "agents/registrar/registrar_part.h"
#include "agents/registrar/rendezvous.h"
#include "agents/registrar/replica_inquiry.h"
#include "agents/registrar/step_recorder.h"
#include "agents/registrar/transaction.h"
#include "agents/registrar/transaction_numbers.h"
#include "agents/registrar/txn_row.h"

namespace tessera::agents {

class TransactionDesk : public RegistrarPart {
 public:
  /// Parts that it uses. All outlive it.
  struct Uses {
    TransactionNumbers& numbers;
    Decisions& decisions;
    Documents& documents;
    PlanDesk& plans;
    const LinkSurvey& links;
    StepRecorder& steps;
    Rendezvous& rendezvous;
    ReplicaInquiry& replicas;
  };
  struct World {
    /// \error naming what must end before
    std::function<Status()> check_free;
    /// The step of a suspended job whose ranks are not started again, if its devices hold one
    /// state.
    std::function<std::optional<std::int64_t>(const Job& job)> rests_at;
    /// The old state of the job may be overwritten from now on.
    std::function<void(const std::string& job)> transfer_begins;
    /// A transaction that continues a job without ranks is over; the job counts as running or
    /// paused now.
    std::function<void(Job& job, const Txn& txn, bool committed, const std::string& reason)>
        recovered;
    /// A timeline of the job begins after `step`.
    std::function<void(const std::string& job, std::int64_t timeline, std::int64_t step)>
        timeline_begins;
    /// A job trains that began with the state of a checkpoint.
    std::function<void(Job& job)> started;
    /// The ranks of the job may have stopped by themselves while the transaction ended.
    std::function<void(Job& job)> settled;
    /// The ranks of the job cannot go on.
    std::function<void(Job& job, const std::string& reason, RankEnd end)> interrupt;
  };
  TransactionDesk(const Common& common, JobTable& jobs, const Uses& uses, World world)
      : RegistrarPart(common), uses_(uses), jobs_(jobs), around_(std::move(world)) {}

  // ---- requests of clients
  void OnApply(const std::string& request_id, const wire::ApplyRequest& request,
               const ReplyPtr& reply);
  void OnHandIn(const std::string& request_id, const wire::HandInRequest& request,
                const ReplyPtr& reply);
  /// Replaces the state of the job by that of a checkpoint.
  void Load(const std::string& request_id, const std::string& job, StoredState state,
            const ReplyPtr& reply);
  /// Begins a job that is starting with the state of a checkpoint, on its layout.
  void BeginFrom(const Job& job, StoredState state);
  void OnTxnRequest(const wire::TxnRequest& request, const ReplyPtr& reply);
  void OnCancel(const wire::CancelRequest& request, const ReplyPtr& reply);
  void OnThrottle(const wire::ThrottleRequest& request, const ReplyPtr& reply);

  // ---- what nodes report
  /// Its journal, in the message, says how far the node is.
  void OnRegister(const wire::Register& message, bool restarted);
  void OnReport(std::int32_t node, const wire::TxnReport& message);
  void OnProgress(std::int32_t node, const wire::TxnProgress& message);
  /// Digests of the state after a commit.
  void OnStateDigests(std::int32_t node, const wire::StateDigests& message);
  void OnRankLost(std::int32_t node, ptc::DeviceId device, const wire::RankExited& message);
  void OnRankLoad(ptc::DeviceId rank, const RankLoading& loading);
  /// A participant has written `abort`.
  void OnAborted(std::int64_t transaction, const std::string& why);

  // ---- the running transaction
  /// Journals and records the transaction. The caller then calls Go.
  /// \pre nothing else runs; the job is paused, running, or suspended with `origin.recovery`
  /// \error kResourceExhausted if the history cannot be written; kUnavailable if the journal cannot
  Status Begin(Job& job, Planned planned, TxnOrigin origin);
  void Go() { Feed(engine::Begin{}); }
  /// nullptr if none runs.
  const Txn* running() const { return txn_ ? &*txn_ : nullptr; }
  /// Whether the node takes part in the transaction that runs.
  bool HasParticipant(std::int32_t node) const;
  /// Whether the node took part in that transaction of the job, according to the history.
  bool HadParticipant(std::int64_t transaction, const std::string& job, std::int32_t node) const;
  /// Whether it changes this job.
  bool Changes(const std::string& job) const { return txn_ && txn_->job == job; }
  /// \error kFailedPrecondition while one runs
  Status CheckIdle() const;
  /// Of the running transaction, else of the last one.
  std::optional<engine::TxnStatus> status() const;
  /// Feeds what silence and deadlines mean, and repeats requests.
  void Tick(Clock::time_point now);
  /// Cancels it if a rank that it starts has stalled.
  void GiveUp(Clock::time_point now);

  /// Follows the decision of a transaction that an earlier registrar has begun.
  /// \error those of the journal and the history
  Status Recover();

 private:
  /// \error kNotFound unless it is the transaction that runs; `id` 0: any
  Status CheckRuns(std::int64_t id) const;
  /// \error kFailedPrecondition if it is decided; as CheckRuns
  Status CheckCancel(std::int64_t id) const;
  using AnswerAct = std::function<void(std::int64_t transaction)>;
  /// Calls `answer` if an earlier request with this id began a transaction.
  /// \return whether it did
  bool AnswerFromAct(const std::string& request_id, const AnswerAct& answer);
  Status CheckCanApply(const Job& job) const;
  /// As CheckCanApply, and also for a suspended job whose ranks are not started again.
  Status CheckCanReconfigure(const Job& job) const;
  /// Begins the transaction if the plan still holds.
  Status BeginApply(const std::string& request_id, const wire::ApplyRequest& request,
                    Planned planned, const ReplyPtr& reply);
  /// \error as CheckCanApply; kFailedPrecondition for a program that cannot continue from there
  Status CheckCanLoad(const Job& job, const StoredState& state) const;
  Status BeginLoad(const std::string& request_id, Job& job, StoredState state, Planned planned,
                   const ReplyPtr& reply);
  Status CheckCanHandIn(const Job& job, const wire::HandInRequest& request) const;
  /// Begins the transaction if the state may still be handed in.
  Status BeginHandIn(const std::string& request_id, const wire::HandInRequest& request,
                     Planned planned, const ReplyPtr& reply);
  /// Begins to watch the ranks that the transaction starts.
  void WatchJoining(const Job& job);
  /// A node may have been silent before the transaction began to wait for it.
  void FeedSilence(Clock::time_point now);
  /// Whether the node would get its first ranks of the job, and sends no heartbeats.
  /// \pre a transaction runs
  bool IsSuspectJoiner(const Membership::Node& node) const;
  /// The nodes that the present phase needs: those that have not answered, and in a round all.
  /// \pre a transaction runs
  std::set<std::int32_t> Needed() const;
  /// Sends the request of the present phase, or the outcome, again to those of them that are
  /// connected.
  void RepeatRequests(Clock::time_point now);
  /// Whether the job of a finished transaction is paused now.
  bool IsPausedSince(std::int64_t transaction);

  // ---- the machine and its actions (transaction_actions.cpp)
  void Feed(engine::CoordinatorEvent event);
  /// \pre txn_ has all but `run`
  std::unique_ptr<TransactionRun> MakeRun(engine::Coordinator machine);
  Status SendRequest(const engine::CoordinatorAction& action);
  /// Whether devices of different nodes may exchange cells without their hosts.
  bool CanExchange() const;
  /// Whether they do: those of all nodes have met.
  bool Exchanges() const;
  /// Prepare of the running transaction, for all of its nodes.
  std::shared_ptr<const wire::ToNode> Prepared();
  void OnPhaseChanged(engine::TxnPhase before);
  /// Ends the rounds: the node has lost what others need. Noted first, because nodes forget the
  /// transaction then.
  void GiveUpRounds(std::int32_t node, const std::string& reason);
  /// What lay beside the state of a device in its rounds.
  void NoteExtra(const wire::DeviceExtra& extra);
  /// All ranks may wait now.
  void NotePaused();
  void NoteKeeping(int leg, double seconds);
  void NoteLeg(int leg);
  /// In the pause: compares what the transfer has read.
  engine::DigestsCompared Compare();
  /// Asks the nodes which cells of these replicas differ.
  void AskAbout(const StateComparison& states);
  /// Ranks continue, so the pause has ended.
  void NoteResumed();
  /// Notes the digests of the committed state in the record, or why there are none.
  /// \return what the event of the commit says of them
  std::string NoteDigests();
  void Adopt(const engine::Decision& decision);
  /// \pre the layout of the job is that of before the change
  void NoteEarlierMesh(Job& job, std::int64_t step) const;
  /// The record of a transaction that an earlier registrar has begun. Its `from` can be parsed.
  engine::HistoryEntry RecordOf(const TxnRow& row, const Job& job) const;
  void Finish(bool committed, const std::string& reason);
  /// Says in the job what the rounds that count have left of its state.
  void NoteRemains(Job& job) const;
  /// Journals what has to be noted before the outcome is sent.
  Status NoteRound(const engine::SendOutcome& outcome);
  Status PutRound(const RoundRow& row);
  engine::RowChange Row() const;
  /// Erases the row of the last transaction together with journaling its job. Tried again if the
  /// disk fails.
  void EraseLeftRow();
  /// Gives results to the records that earlier processes have left without one, except to the
  /// record of transaction `running`.
  void CloseRecords(std::int64_t running);
  /// Notes in the record what the register holds about its transaction, as soon as that answers.
  void CloseRecord(const engine::HistoryEntry& entry, bool is_of_before);

  const Uses uses_;
  JobTable& jobs_;
  const World around_;
  Acts acts_{journal_};
  std::optional<Txn> txn_;
  std::optional<engine::TxnStatus> last_;  // of the last finished one
  Clock::time_point looked_;               // for silent nodes, last
  std::optional<std::string> left_row_;    // the job of the last one, whose row is still there
};

}  // namespace tessera::agents
