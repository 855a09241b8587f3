// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The agent of one node: it follows the registrar, runs the ranks of its devices, and participates
/// in transactions.

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agents/job/rank_links.h"
#include "agents/keeper/keeper_link.h"
#include "agents/move/device_store.h"
#include "agents/net/timers.h"
#include "agents/node/config.h"
#include "agents/node/job_row.h"
#include "agents/node/node_views.h"
#include "agents/node/node_world.h"
#include "agents/node/peers.h"
#include "agents/node/rank_table.h"
#include "agents/node/rendezvous_relay.h"
#include "agents/node/repetition.h"
#include "agents/node/transaction_part.h"
#include "agents/wire/tessera/wire/node.pb.h"
#include "engine/cluster/snapshot.h"
#include "engine/txn/participant.h"

namespace tessera::agents {

/// No socket, process, thread, file or clock of its own: NodeServer connects it with real ones, a
/// simulator with its own. Keeper and links receive its handlers, so they are made after it: first
/// the agent, then the keeper; Recover; then the links; Start.
/// \threadsafety The loop's thread.
class NodeAgent {
 public:
  /// \pre `timers` and what `world` names outlive the agent; no timer, task or reply that it has
  ///     asked for runs after its end
  NodeAgent(Timers& timers, const AgentConfig& config, NodeWorld world);
  NodeAgent(const NodeAgent&) = delete;
  NodeAgent& operator=(const NodeAgent&) = delete;
  ~NodeAgent();

  KeeperLink::Handlers keeper_handlers();
  RankLinks::Handlers rank_handlers();

  /// Continues from journal, arenas and ranks, where the agent before has left them. Sends nothing
  /// to ranks.
  /// \error that of the journal, of an arena or of a view, naming it
  Status Recover(KeeperLink& keeper, NodeViews& views);
  /// Registers, and does so again until the registrar answers. `lanes`: the endpoints at which
  /// other nodes fetch cells.
  void Start(RankLinks& ranks, std::vector<std::string> lanes);

  void OnMessage(const wire::ToNode& message);
  /// The connection to the registrar was lost, and messages with it. Now it is there again.
  void OnReconnected();

 private:
  /// One rank's process on this node.
  using Rank = RankTable::Rank;
  struct Job {
    std::string name;
    JobRow row;
    std::uint64_t resumed_through = 0;
    bool starting = false;
    std::uint64_t start = 0;   // as in StartJob; 0: an earlier agent started it
    std::int64_t attempt = 0;  // of the last start of its ranks by this agent
  };
  struct Txn {
    wire::Prepare prepare;
    std::unique_ptr<TransactionPart> part;
    Timers::Clock::time_point last_word;               // of the registrar about this transaction
    std::optional<Timers::Clock::time_point> flipped;  // when ranks were first told to adopt
    bool is_job_journaled = false;                     // the row of the job in the new epoch
    Repetition repeats;                                // of the last report, if nothing is heard
    std::optional<ptc::Layout> from, to;
    std::vector<ptc::DeviceId> lost;  // of the old layout; their state is of no use
    ptc::Plan plan;
    std::map<ptc::DeviceId, engine::PieceTable> old, next;  // by local device
    std::shared_ptr<const MoveContext> context;             // set once this node is prepared
    std::unique_ptr<Move> move;
    MoveResult result;
  };

  Status ForgetOtherKeepers();
  Status RecoverDevices();

  // ---- registrar (node_agent.cpp)
  void Send(wire::FromNode message);
  void SendRegister();
  void Beat();
  void SendHeartbeat();
  void FillJobs(google::protobuf::RepeatedPtrField<wire::NodeJob>* out) const;
  /// Sends again what the registrar may not have received.
  void RepeatReports();
  void FillDevices(google::protobuf::RepeatedPtrField<wire::NodeDevice>* out) const;
  void OnTakeView(const wire::TakeView& message);
  void OnCompleteSnapshot(const wire::CompleteSnapshot& message);
  void ReportEvent(engine::Severity severity, const std::string& source, const std::string& text);

  // ---- jobs and ranks (node_ranks.cpp)
  Status RecoverRanks();
  /// How the ranks of one epoch are started.
  struct Launch {
    std::string job;
    std::string settings;  // JSON
    ptc::Layout layout;
    std::int64_t epoch = 0, attempt = 0, micro_batch = 0;
    bool initialise = false;
    Peers peers;
    bool finish_update = false;  // the process makes one update and ends
  };
  Status SpawnRank(const Launch& launch, int rank);
  void OnStartJob(const wire::StartJob& message);
  Status StartJob(const wire::StartJob& message);
  /// Starts the ranks of a job on the state that the arenas hold.
  /// \error naming the device that does not hold it, or whose rank still lives
  Status StartAgain(const wire::StartJob& message);
  /// Checks that the device holds the state after `message.step()`, or the one before it and what
  /// its update needs; installs the decision then.
  /// \return whether the update is missing
  Result<bool> CheckHeldState(const wire::StartJob& message, ptc::DeviceId id);
  void OnFinishUpdate(const wire::FinishUpdate& message);
  void OnResumeJob(const wire::ResumeJob& message);
  void OnPauseJob(const wire::PauseJob& message);
  void OnStopJob(const wire::StopJob& message);
  /// Ends these ranks of the job outside of updates, or at the deadline.
  void EndRanks(const std::string& job, std::set<std::int64_t> pids,
                Timers::Clock::time_point deadline);
  void KillRanks(const std::string& job);
  void ForgetJob(const std::string& job);
  void OnTakeDigests(const wire::TakeDigests& message);
  void OnFailDevice(std::int32_t index);
  RankTable::World WorldOfRanks();
  bool ExpectsRank(const RankId& id, std::int64_t pid);
  void OnRankAttached(const RankId& id);
  void OnRankConnected(const RankId& id, std::int64_t epoch, std::int64_t attempt,
                       const Status& status);
  void OnRankPaused(const RankId& id, RankTable::Pause pause);
  void OnRankDecided(const RankId& id, const RankDecision& decision);
  void OnRankAdopted(const RankId& id, std::int64_t epoch);
  /// Whether the rank is in the layout of its job, or joins it.
  bool Belongs(const RankId& id) const;
  void OnRankExited(const KeeperLink::Rank& exited);
  void ReportExit(const Rank& rank, const KeeperLink::Rank& exited, std::int64_t epoch,
                  bool joiner);
  /// Reports the exits that the registrar has not noted.
  void SendExits();
  void OnRankExitNoted(std::int64_t pid);
  bool HasLeft(const RankId& id);
  void ReportPaused(const std::string& job);
  /// Reports all paused jobs again: the registrar may have restarted, or ignored the first report.
  void ReportAllPaused();
  void RaiseRequest(const std::string& job, std::uint64_t number, std::int64_t at_step);
  /// Resumes waiting ranks. `data_too`: also those that could not read their data.
  void Resume(const std::string& job, bool data_too);
  /// The pause that all ranks of the job on this node share, or nullopt.
  std::optional<RankTable::Pause> AllPaused(const std::string& job) const;
  /// Reports an error as an event too.
  Status JournalJob(const Job& job);
  /// Sends again the steps after `after`, which the registrar has not recorded.
  void RepeatSteps(const std::string& job, std::int64_t after);

  // ---- transaction (node_txn.cpp)
  Status RecoverTxn();
  void BeginTxn(const wire::Prepare& prepare);
  void OnPrepare(const wire::Prepare& message);
  void OnOutcome(const wire::Outcome& message);
  void OnGo(const wire::Go& message);
  void OnDecided(const wire::Decided& message);
  TransactionPart::World WorldOfTxn();
  static TransactionPart::Terms TermsOf(const wire::Prepare& prepare);
  void Feed(engine::ParticipantEvent event);
  void NoteWord();
  /// Notes a word of the registrar about `transaction`.
  /// \return whether that is the transaction of this node
  bool HearAbout(std::int64_t transaction);
  /// Asks about the transaction if its registrar has been silent about it.
  void AskAfterSilence();
  void RefuseWaiting();
  /// Reports again what this node has done last for the transaction.
  void RepeatReport();
  /// Reports about a transaction that this node does not take part in now.
  void ReportOf(std::int64_t transaction, wire::TxnReport::Kind kind,
                const std::string& reason = {});
  void FailRanksThatHang();
  Status CheckAndReserve();
  Status BuildPlan();
  void ConnectRanks();
  void CheckConnected();
  void RunTransfer(std::int64_t step);
  /// \error kInternal if the state in an arena is not that after `step`
  Status CheckStep(std::int64_t step) const;
  void SendReport(const engine::Report& report);
  void SendProgress();
  void FlipAndAdopt(std::int64_t step);
  void SendAdopt();
  void CheckAdopted();
  void CleanUp();
  void CheckCleanedUp();
  void ReleaseRanks(bool stay_paused);
  void ResumeOld(bool stay_paused);
  void Ask(bool write_abort);
  void OnForgotten(bool stay_paused);
  /// Ends this agent. Its keeper starts another.
  void Halt(const std::string& why);
  std::shared_ptr<const MoveContext> MakeContext() const;
  std::vector<ptc::DeviceId> LocalOf(const ptc::Layout& layout) const;
  /// Whether the transaction starts this rank.
  bool IsJoiner(const RankId& id) const;
  /// Whether the device holds state that the transaction reads.
  bool IsSource(ptc::DeviceId id) const;

  Timers& timers_;
  const AgentConfig config_;
  const NodeWorld world_;
  engine::DurableStore& journal_;
  KeeperLink* keeper_ = nullptr;  // since Recover
  NodeViews* views_ = nullptr;    // since Recover
  RankLinks* links_ = nullptr;    // since Start
  std::vector<std::string> lanes_;
  std::optional<DeviceStore> store_;
  bool welcomed_ = false;
  Timers::Clock::time_point last_message_;
  std::map<std::string, Job> jobs_;
  RankTable ranks_{WorldOfRanks()};
  std::map<std::int64_t, wire::RankExited> exits_;  // by pid; not noted by the registrar yet
  /// By job and step, the last reports.
  std::map<std::string, std::map<std::int64_t, wire::StepReport>> recent_steps_;
  std::optional<Txn> txn_;
  /// The next transaction, while this node still follows the outcome of the one before.
  struct Waiting {
    wire::Prepare prepare;
    Timers::Clock::time_point since;
  };
  std::optional<Waiting> waiting_;
  int beats_ = 0;
  RendezvousRelay rendezvous_{[this](wire::FromNode message) { Send(std::move(message)); }};
  std::map<std::uint64_t, std::unique_ptr<Move>> digest_runs_;
  std::uint64_t next_digest_run_ = 1;
  std::set<std::int64_t> strangers_;  // pids that were refused, each said once
  std::uint64_t last_order_ = 0;      // of the last FinishUpdate
};

}  // namespace tessera::agents
