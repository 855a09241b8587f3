// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The registrar runs in the agent of the first node. It holds the job table and the decision
/// register, plans and coordinates transactions, answers panels and command lines, and writes the
/// history of the cluster.

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "agents/decision/embedded.h"
#include "agents/move/cell_digests.h"
#include "agents/net/timers.h"
#include "agents/node/config.h"
#include "agents/node/peers.h"
#include "agents/node/repetition.h"
#include "agents/registrar/crash_guard.h"
#include "agents/registrar/data_opener.h"
#include "agents/registrar/membership.h"
#include "agents/registrar/node_query_client.h"
#include "agents/registrar/planner.h"
#include "agents/registrar/publisher.h"
#include "agents/registrar/rendezvous.h"
#include "agents/registrar/snapshot_desk.h"
#include "agents/registrar/start_watch.h"
#include "agents/registrar/transaction_run.h"
#include "agents/registrar/transfer_count.h"
#include "agents/views/view_desk.h"
#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/node.pb.h"
#include "engine/cluster/holding.h"
#include "engine/cluster/link_speeds.h"
#include "engine/cluster/snapshot.h"
#include "engine/history/durable_store.h"
#include "engine/history/history.h"
#include "engine/model/gpt.h"
#include "engine/recovery/consistent_cut.h"
#include "engine/recovery/stragglers.h"
#include "engine/search/propose.h"
#include "engine/transfer/progress.h"
#include "engine/txn/coordinator.h"
#include "ptc/plan/plan.h"
#include "ptc/topology/topology.h"

namespace tessera::agents {

/// Has no socket, clock, thread or file of its own: RegistrarServer gives it those of its agent,
/// and the simulator simulated ones.
/// \threadsafety The thread of its timers.
class Registrar {
 public:
  struct World {
    /// Sends to the connection of a node or of a client.
    std::function<Status(const std::string& identity, const wire::ToNode& message)> send;
    std::function<void(const std::string& identity, const wire::Reply& reply)> reply;
    /// Sends to all subscribers.
    std::function<void(const wire::Published& message)> publish;
    /// Seconds since 1970.
    std::function<double()> wall_clock;
    std::function<void(const std::string& line)> print;
    /// A test may end the process here.
    std::function<void(const std::string& point)> fault_point;
    std::unique_ptr<DataOpener> data;
    /// Runs `work` on another thread, and `then` on that of the timers afterwards, unless the
    /// registrar has ended. In the order of the calls.
    std::function<void(std::function<void()> work, std::function<void()> then)> compute;
    engine::DurableStore& journal;
    engine::History& history;
    engine::History& reader;  // of the same history, for work
  };

  Registrar(Timers& timers, const AgentConfig& config, World world);
  ~Registrar();
  Registrar(const Registrar&) = delete;
  Registrar& operator=(const Registrar&) = delete;

  /// Reads what an earlier registrar has journaled, and goes on from there.
  /// \error those of journal and history
  Status Recover();
  void OnRequest(const std::string& identity, const wire::Request& request);
  void OnNode(const std::string& identity, const wire::FromNode& message);
  /// A message that cannot be parsed has arrived.
  void OnMalformed(std::size_t frames);
  void AddEvent(engine::Severity severity, const std::string& source, const std::string& text);

 private:
  using Clock = Timers::Clock;
  /// A reply that may be sent later, to all connections that sent the same request id.
  class PendingReply;
  using ReplyPtr = std::shared_ptr<PendingReply>;

  using Node = Membership::Node;
  /// The usable devices that a job could continue on.
  struct Remaining {
    std::vector<ptc::DeviceId> own, spare;
    bool operator==(const Remaining&) const = default;
  };
  /// Lost devices of a suspended job.
  struct DeviceLoss {
    Remaining remaining;                    // when `status` was computed
    std::optional<std::uint64_t> snapshot;  // to which the job could return then
    engine::ConsistentCut cut;
    engine::DecisionStatus status;  // without `chosen` and `seconds_left`
    bool by_itself = false;         // it continues on its own devices, and no step is lost
    std::optional<engine::LossChoice> chosen;
    std::optional<Clock::time_point> decide_at;  // it continues then if nobody has chosen
    int failures = 0;                            // of recoveries; after kMostFailures it waits
    static constexpr int kMostFailures = 3;
    std::optional<Clock::time_point> not_before;  // of the next attempt, after a failure
    bool has_given_up() const { return failures >= kMostFailures; }
  };
  struct Job {
    Job(std::string job_name, engine::JobSettings job_settings, ptc::Layout job_layout)
        : name(std::move(job_name)),
          settings(std::move(job_settings)),
          layout(std::move(job_layout)) {}
    std::string name;
    engine::JobSettings settings;
    ptc::Layout layout;
    engine::StepOptions options;
    engine::DataStatus data = {};  // empty until the data are open
    std::int64_t epoch = 1;
    std::int64_t timeline = 0;
    std::int64_t slot = 1;  // of the next decision
    engine::JobState state = engine::JobState::kStarting;
    std::string reason;
    std::int64_t step = 0;
    std::optional<double> loss, tokens_per_second;
    std::deque<double> step_seconds;  // the last steps of this configuration
    double usual_step_seconds = 1;    // of the last configuration that ran
    Clock::time_point last_step;      // when a later step than before was reported by any node
    std::int64_t heard_step = 0;      // the latest step in an arena, by heartbeats
    std::int64_t recorded = 0;        // the last step whose sample is in samples_ or the history
    std::map<std::int64_t, engine::Sample>
        ahead;  // samples that arrived before that of an earlier step
    std::optional<Clock::time_point> gap_since;         // the step after `recorded` is missing
    Clock::time_point gap_asked;                        // when the nodes were last asked for it
    ReplyPtr starting;                                  // answered once all ranks are ready
    std::optional<StartWatch> start_watch;              // until all ranks are ready
    std::string start_note;                             // for that reply: why this mesh was chosen
    std::set<std::int32_t> not_ready;                   // nodes whose ranks are not all ready
    std::shared_ptr<const wire::ToNode> start_message;  // that they have been sent
    Repetition start_repeats;                           // of it
    std::uint64_t start = 0;   // identifies this start of a job with this name
    std::int64_t attempt = 0;  // of its last start again; ranks of earlier attempts do not count
    CrashGuard crashes;
    std::vector<engine::SlowRank> slow;
    bool restarts = true;   // while suspended: it is started again as soon as possible
    std::string waits_for;  // what stands in the way of that
    /// Nodes whose last report is older than the suspension.
    std::set<std::int32_t> unreported;
    int finishes = 0;  // of devices one step behind, since the suspension
    std::optional<DeviceLoss> device_loss;
    bool waits = false;  // someone chose to wait for lost devices
    engine::OnFailure on_failure = engine::OnFailure::kAsk;
    engine::SnapshotEvery snapshots;
    bool stays_paused = false;  // after it is started again
    ReplyPtr restarting;        // answered once it is started again, or cannot be
    std::optional<Clock::time_point> suspended_since;
    /// A node whose ranks all wait at a step boundary.
    struct PausedNode {
      std::int64_t step = 0;
      std::uint64_t request = 0;
      std::string reason;  // why a rank cannot read its data; else empty
    };
    std::map<std::int32_t, PausedNode> paused_nodes;
    std::map<std::int32_t, PausedNode> resumed;  // paused_nodes at the last resume
    /// What each rank holds; computed once per epoch.
    const std::vector<engine::Holding>& Holdings() const {
      if (holdings_epoch != epoch) {
        holdings = engine::HoldingsOf(layout);
        holdings_epoch = epoch;
      }
      return holdings;
    }
    mutable std::vector<engine::Holding> holdings;
    mutable std::int64_t holdings_epoch = 0;
  };
  /// A job that starts as soon as this node has opened its data.
  struct Opening {
    ReplyPtr reply;
    engine::JobSettings settings;
    RankLoading loading;
    Clock::time_point began, last_progress;
    DataOpener::Id id = 0;
  };
  /// Pauses a job, or computes its digest at a step boundary.
  struct JobOperation {
    enum class Kind { kPause, kDigest } kind = Kind::kPause;
    std::string job;
    std::uint64_t number = 0;
    bool was_paused = false;
    std::int64_t step = 0;
    std::set<std::int32_t> waiting;
    bool digesting = false;
    std::vector<DeviceDigests> digests;
    ReplyPtr reply;
    Clock::time_point deadline;
  };
  /// A measurement of links that is in progress.
  struct LinkRound {
    std::vector<std::int32_t> nodes;  // one per host, ascending
    std::size_t done = 0;             // number of nodes that have measured
    engine::LinkSpeeds speeds;
    ReplyPtr reply;
    Clock::time_point began;
  };
  /// State that a client hands in. The transaction fetches it instead of moving the present state.
  struct HandIn {
    std::int64_t step = 0;  // the job continues after this step
    wire::HandInSource source;
  };
  /// A transaction that continues a job which has lost devices.
  struct Recovery {
    std::vector<ptc::DeviceId> lost;
    std::int64_t step = 0;  // the state is the one after this step
    std::string reason;
    /// Present: the job returns to a snapshot, and all its devices count as lost.
    std::optional<std::int64_t> steps_lost = {};
    wire::ViewReply snapshot = {};  // its shares
    std::string digest = {};        // of the snapshot
  };
  /// The request of a transaction.
  struct TxnRequestInfo {
    std::string request_id = {};
    std::string requester = {};
    std::int64_t at_step = 0;
    bool unrecorded = false;
    std::optional<HandIn> hand_in = {};
    std::optional<Recovery> recovery = {};
  };
  struct Txn {
    Txn(Planned what, Clock::time_point now)
        : planned(std::move(what)), phase_began(now), progress(planned.plan.bytes.moved(), now) {}
    std::int64_t id = 0;
    std::string job;
    Planned planned;
    std::int64_t slot = 0, epoch = 0, at_step = 0;
    std::int64_t timeline = 0;  // of the job once it is committed
    std::optional<HandIn> hand_in;
    std::optional<Recovery> recovery;
    bool was_paused = false;  // and stays so
    bool cancelled = false;   // by a user
    std::unique_ptr<TransactionRun> run;
    engine::HistoryEntry entry;
    Clock::time_point phase_began;
    std::optional<StartWatch> start_watch;  // while it prepares
    std::optional<Clock::time_point> paused_since, pause_deadline;
    Repetition repeats;  // of the requests of this phase
    double pause = 0;
    TransferCount count;
    engine::Progress progress;
    std::int64_t checksums_equal = 0;
    std::vector<DeviceDigests> before, after;
    std::map<ptc::DeviceId, std::string> lost_ranks;  // with the reason
  };

  // ---- messages (registrar.cpp)
  void OnHello(const std::string& identity, const wire::Hello& hello, const ReplyPtr& reply);
  /// \error kUnavailable if the node is not connected
  Status SendTo(std::int32_t node, const wire::ToNode& message);
  Publisher::World WorldOfPublisher();
  void MarkDirty() { publisher_.MarkDirty(); }
  engine::ClusterSnapshot Snapshot() const;
  engine::TxnStatus TxnStatusNow() const;

  // ---- nodes (registrar_nodes.cpp)
  void OnRegister(const std::string& identity, const wire::Register& message);
  void OnTick();
  void OnNodeSilent(const Node& node);
  void OnHeartbeat(Node& node, const wire::Heartbeat& message);
  /// Repeats what nodes have not answered: the message or the answer may be lost.
  void RepeatRequests(Clock::time_point now);
  /// Sends the node what it may have missed about its jobs, by what it says of them.
  void RepeatMissed(const Node& node,
                    const google::protobuf::RepeatedPtrField<wire::NodeJob>& jobs);
  /// Acts on what a node says of its ranks of the job, unless the job is suspended.
  void OnNodeJob(std::int32_t node, Job& job, const wire::NodeJob& row);
  /// Sends the message that starts the ranks of the job to its nodes that are not ready.
  void SendStart(Job& job, wire::ToNode message);
  /// Interrupts jobs whose state or ranks the node no longer has, although it has not said that
  /// they ended: what it said may have been lost with an earlier registrar.
  void CheckHeld(const Node& node);
  /// Names ranks that have become slower than their peers, and those that no longer are.
  void NoteSlowRanks(Job& job);
  /// The node without which the job can make no step, or nullptr.
  const Node* FindLostNode(const Job& job, Clock::time_point now) const;
  void OnDecide(std::int32_t node, const wire::Decide& message);
  void OnKillNode(const wire::KillNodeRequest& request, const ReplyPtr& reply);
  void OnFailDevice(const wire::FailDeviceRequest& request, const ReplyPtr& reply);
  void OnShutdown(const ReplyPtr& reply);
  /// \error naming the device and why `job` cannot use it
  Status CheckDevice(ptc::DeviceId id, const std::string& job) const;

  // ---- starting a job (registrar_start.cpp)
  void OnStartJob(const wire::StartJobRequest& request, const ReplyPtr& reply);
  /// Checks the request as far as possible without its data.
  Result<engine::JobSettings> CheckStart(const wire::StartJobRequest& request) const;
  Status StartJob(const wire::StartJobRequest& request, const engine::DataStatus& data,
                  const ReplyPtr& reply);
  // ---- data of jobs that start (registrar_opening.cpp)
  /// `then` runs unless the opening is stopped or stalls.
  /// \pre no opening of that name
  void OpenForStart(const std::string& name, const engine::JobSettings& settings,
                    const ReplyPtr& reply, DataOpener::Done then);
  /// Cancels the opening and fails its start request.
  /// \pre there is one
  void EndOpening(const std::string& name, const Error& why);
  /// Carries out a request to stop a job whose data are being opened.
  /// \return whether the job was being opened
  bool StopOpening(const wire::JobRequest& request, const ReplyPtr& reply);
  /// \error kFailedPrecondition with the progress of the opening
  Status CheckNotOpening(const std::string& name) const;
  void OnRankLoad(std::int32_t node, const wire::RankLoad& message);
  /// Fails the starts that have stalled.
  void GiveUpStarts(Clock::time_point now);
  /// Begins to watch the ranks that the transaction starts.
  void WatchJoining(Txn& txn, const Job& job);
  std::string LateText(const StartWatch::Late& late);
  std::vector<engine::JobStatus> OpeningJobs() const;

  /// The first empty slot of the decision register for `job`, from `first` on.
  Result<std::int64_t> FirstFreeSlot(const std::string& job, std::int64_t first);
  /// Opens the data of a job from the journal, for its row in the snapshot.
  void DescribeJournaledData(const Job& job);
  struct StartChoice {
    ptc::DeviceMesh mesh;
    engine::StepOptions options;
    std::string why;  // empty if the request gives mesh and options
  };
  Result<StartChoice> ChooseStart(const wire::StartJobRequest& request, const std::string& name,
                                  const engine::JobSettings& settings) const;

  // ---- steps and samples (registrar_samples.cpp)
  void OnStep(const wire::StepReport& message);
  /// Publishes and records the samples that follow the last recorded step without a gap; with
  /// `all`, all samples.
  void ReleaseSamples(Job& job, bool all);
  /// Takes the sample of the step that a suspended job continues after from the decision in its
  /// arenas, if nobody has reported it.
  void RecordDecided(Job& job, std::int64_t step);
  void FlushSamples();
  /// Deletes a bounded number of old rows if the history exceeds its limits.
  void RetainHistory();
  Status RecoverSteps();
  /// Records all pending samples, then expects the step after `step` next.
  void RestartStepCountAt(Job& job, std::int64_t step);

  // ---- jobs (registrar_jobs.cpp)
  Job* FindJob(const std::string& name);
  Result<Job*> NeedJob(const std::string& name);
  /// The nodes of `mesh` that have a device which is not in `lost`.
  static std::set<std::int32_t> NodesOf(const ptc::DeviceMesh& mesh,
                                        const std::vector<ptc::DeviceId>& lost = {});
  /// Whether a device of the node is in the layout of the job. Called for each heartbeat, so it
  /// does not look at the other nodes.
  static bool IsOn(const Node& node, const Job& job);
  void OnJobReady(std::int32_t node, const wire::JobReady& message);
  void OnJobRequest(const wire::JobRequest& request, const ReplyPtr& reply);
  void BeginOperation(JobOperation::Kind kind, Job& job, const ReplyPtr& reply);
  void OnJobPaused(std::int32_t node, const wire::JobPaused& message);
  /// Marks a running job as paused if all its nodes have stopped by themselves, at the same step.
  void MarkPausedIfAllStopped(Job& job);
  /// "data: web.bin at byte 96: …" if the ranks wait because of unreadable data, else empty.
  static std::string DataProblem(const Job& job);
  void OnDigests(std::int32_t node, const wire::DigestsReport& message);
  void EndOperation();
  void ResumeAfter(const JobOperation& operation);
  void FailOperation(const Error& error);
  void ResumeJob(Job& job);
  void SendResume(const Job& job, std::int32_t node);
  /// Whether paused ranks of the node wait because a resume message was lost.
  static bool MissedResume(const Job& job, std::int32_t node, const wire::NodeJob& row);
  /// Ends the ranks of the job; with `forget` frees its state too.
  void SendStop(std::int32_t node, const std::string& job, bool forget);
  void StopJob(const std::string& name, bool forget);
  wire::ToNode StartMessage(const Job& job) const;
  void ResendStops(std::int32_t node,
                   const google::protobuf::RepeatedPtrField<wire::NodeJob>& jobs);
  /// The ranks of the job cannot go on. A job that starts has failed and is forgotten; any other is
  /// suspended.
  void InterruptJob(Job& job, const std::string& reason);
  void FailStart(Job& job, const std::string& reason);
  void OnRankExited(std::int32_t node, const wire::RankExited& message);
  /// Reports an error as an event too.
  Status JournalJob(const Job& job);
  Status CheckIdle() const;
  /// Of the present configuration; nullopt before it has made a few steps.
  static std::optional<double> MedianStepSeconds(const Job& job);
  /// For deadlines: the length of recent steps, of any configuration.
  static double UsualStepSeconds(const Job& job);
  std::chrono::milliseconds PauseDeadline(const Job& job, std::int64_t at_step) const;

  // ---- jobs whose ranks have ended (registrar_restart.cpp)
  void SuspendJob(Job& job, const std::string& reason);
  /// Starts suspended jobs again where nothing stands in the way.
  void RestartJobs();
  /// The step after which the whole state of a suspended job is in memory; nullopt if a part is
  /// lost or not at that step, or if ranks may still write.
  std::optional<std::int64_t> RestsAt(const Job& job) const;
  /// \pre nothing of `cut` is lost
  Status RestartJob(Job& job, const engine::ConsistentCut& cut);
  wire::ToNode RestartMessage(const Job& job, const engine::ConsistentCut& cut) const;
  void OnRestarted(Job& job);
  void OnResumeSuspended(Job& job, const ReplyPtr& reply);

  // ---- jobs that have lost devices (registrar_recovery.cpp)
  engine::ConsistentCut CutOf(const Job& job) const;
  /// A snapshot that the job can return to, and the living nodes with shares of it.
  struct UsableSnapshot {
    const SnapshotRow* row = nullptr;
    std::set<std::int32_t> nodes;
  };
  std::optional<UsableSnapshot> FindSnapshot(const Job& job) const;
  wire::ViewReply SharesOf(const UsableSnapshot& snapshot) const;
  Remaining RemainingDevices(const Job& job) const;
  Result<Planned> PlanRecovery(const Job& job, const std::vector<ptc::DeviceId>& lost) const;
  /// Plans to read all state from a snapshot.
  Result<Planned> PlanReturn(const Job& job) const;
  /// Lets the devices that are one step behind make their update. A recovery reads devices before
  /// it starts ranks.
  void FinishUpdates(Job& job, const engine::ConsistentCut& cut);
  /// Finds out what can be done, unless that is known.
  void NoteLoss(Job& job, engine::ConsistentCut cut);
  /// What can be done after a loss whose devices are `loss.status.lost`.
  void FillStatus(const Job& job, DeviceLoss& loss) const;
  /// "it can continue on 4 GPUs as dp=2,tp=2, without losing a step, or wait"
  static std::string TextOf(const DeviceLoss& loss);
  std::optional<engine::DecisionStatus> DecisionStatusOf(const Job& job) const;
  /// Continues on other devices if that is decided.
  /// \pre job.device_loss
  void ConsiderRecovery(Job& job);
  Status BeginRecovery(Job& job);
  /// "no step lost: n1 was lost".
  static std::string CostOf(const Recovery& recovery);
  void FinishRecovery(Job& job, bool committed, const std::string& reason);
  /// Frees what a node, whose report has just arrived, holds of jobs that are elsewhere.
  /// \pre the node is in no transaction
  void ForgetStaleState(Node& node);
  void OnDecision(const wire::DecisionRequest& request, const ReplyPtr& reply);

  // ---- plans (registrar_plan.cpp)
  static Status CheckCanMove(const Job& job);
  PlanBasis BasisOf(const Job& job) const;
  /// Plans on the worker what the request asks for.
  void ComputePlan(const Job& job, const wire::PlanRequest& request,
                   std::function<void(Result<Planned>)> then);
  void OnPlan(const wire::PlanRequest& request, const ReplyPtr& reply);
  /// Computes a value on the worker, and then calls `then` with it.
  template <typename Make, typename Then>
  void Compute(Make make, Then then) {
    auto result = std::make_shared<std::optional<std::invoke_result_t<Make>>>();
    world_.compute([result, make = std::move(make)] { result->emplace(make()); },
                   [result, then = std::move(then)] { then(std::move(**result)); });
  }
  /// The input of the search for configurations of a job on `devices`.
  engine::SearchInput SearchInputOf(const std::string& name, const engine::JobSettings& settings,
                                    std::vector<ptc::DeviceId> devices) const;
  engine::SearchInput SearchInputOf(const Job& job, std::vector<ptc::DeviceId> devices) const;
  /// \error naming a device that does not exist, is not usable, or occurs twice
  Result<std::vector<ptc::DeviceId>> UsableDevices(
      const google::protobuf::RepeatedPtrField<wire::Device>& devices,
      const std::string& job) const;
  void OnPropose(const wire::ProposeRequest& request, const ReplyPtr& reply);

  // ---- links (registrar_links.cpp)
  /// Hosts and bandwidths: measured, else emulated, else assumed.
  ptc::Topology TopologyNow() const;
  /// All devices, or those that are usable now.
  ptc::Cluster ClusterOf(ptc::Topology topology, bool usable_only) const;
  Status RecoverLinks();
  Status JournalLinks();
  /// Drops the bandwidths of `node` that were measured with another machine, address or port.
  void ForgetChangedLinks(const Node& node);
  void OnTopology(const wire::TopologyRequest& request, const ReplyPtr& reply);
  Status CheckNotMeasuring() const;
  void MeasureNextLink();
  Status NoteLinks(std::int32_t node, const wire::LinksAnswer& answer);
  void EndLinkRound();
  void AnswerTopology(const ReplyPtr& reply) const;

  // ---- queries that nodes answer (registrar_queries.cpp)
  void OnProbe(const wire::ProbeRequest& request, const ReplyPtr& reply);
  void OnDoctor(const ReplyPtr& reply);
  void OnLog(const wire::LogRequest& request, const ReplyPtr& reply);
  Status InstallCalibration(engine::Calibration calibration);
  Status RecoverCalibration();

  // ---- views of a job's state (registrar_views.cpp)
  ViewDesk::World WorldOfViews();
  Result<ViewableJob> FindViewable(const std::string& name);
  /// Fills in how the share is read.
  static void DescribeShare(const Node& node, wire::ViewShare* share);
  SnapshotDesk::World WorldOfSnapshots();
  void ConsiderSnapshot(const Job& job);
  void OnJobs(const ReplyPtr& reply);
  void OnView(const std::string& request_id, const wire::ViewRequest& request,
              const ReplyPtr& reply);
  /// Sends `message` to all nodes, because a restarted registrar does not know which nodes hold a
  /// view. Replies with `status`.
  void ForwardToAll(const wire::ToNode& message, const ReplyPtr& reply,
                    const Status& status = OkStatus());

  // ---- hand-ins (registrar_hand_in.cpp)
  void OnHandIn(const std::string& request_id, const wire::HandInRequest& request,
                const ReplyPtr& reply);
  Result<Planned> PlanHandIn(const Job& job, const wire::HandInRequest& request) const;

  // ---- transactions (registrar_txn.cpp)
  using AnswerAct = std::function<void(std::int64_t transaction)>;
  /// Calls `answer` if an earlier request with this id began a transaction.
  /// \return whether it did
  bool AnswerFromAct(const std::string& request_id, const AnswerAct& answer);
  static Status CheckPausedOrRunning(const Job& job);
  /// Journals and records the transaction. The caller then feeds engine::Begin.
  /// \pre CheckIdle, CheckPausedOrRunning
  /// \error kResourceExhausted if the history cannot be written
  Status BeginTxn(Job& job, Planned planned, TxnRequestInfo request);
  void OnApply(const std::string& request_id, const wire::ApplyRequest& request,
               const ReplyPtr& reply);
  /// Begins the transaction if the plan still holds.
  Status BeginApply(const std::string& request_id, const wire::ApplyRequest& request,
                    Planned planned, const ReplyPtr& reply);
  Status CheckCanApply(const Job& job) const;
  void OnHistory(const wire::Request& request, const ReplyPtr& reply);
  void OnTxnRequest(const wire::TxnRequest& request, const ReplyPtr& reply);
  void OnCancel(const wire::CancelRequest& request, const ReplyPtr& reply);
  void OnTxnReport(std::int32_t node, const wire::TxnReport& message);
  /// A node may have been silent before the transaction began to wait for it.
  void FeedSilence();
  /// Sends the request of the present phase, or the outcome, again to connected nodes that have not
  /// answered it.
  void RepeatTxnRequests(Clock::time_point now);
  /// Whether the job of a finished transaction is paused now.
  bool IsPausedSince(std::int64_t transaction);
  void OnTxnProgress(std::int32_t node, const wire::TxnProgress& message);
  void Feed(engine::CoordinatorEvent event);
  /// \pre txn_ has all but `run`
  std::unique_ptr<TransactionRun> MakeRun(engine::Coordinator machine);
  Status SendRequest(const engine::CoordinatorAction& action);
  void OnPhaseChanged(engine::TxnPhase before);
  wire::ToNode PrepareMessage() const;
  engine::DigestsCompared CompareDigests();
  void AdoptDecision(const engine::Decision& decision);
  void FinishTxn(bool committed, const std::string& reason);
  Status JournalTxn();
  Status RecoverTxn();
  /// The decision in the slot. An empty slot of a transaction that does not run any more gets
  /// `abort`: its coordinator never wrote `commit`, and nobody else would decide.
  /// \error kUnavailable if the register cannot be read
  Result<std::optional<engine::Decision>> DecisionOf(const std::string& job, std::int64_t slot,
                                                     std::int64_t transaction);
  /// Tells the node the outcome of a transaction that does not run any more.
  void SendPastOutcome(std::int32_t node, const wire::Register& message);
  /// The number that the next call of NextNumber returns.
  Result<std::int64_t> UpcomingNumber();
  /// \error those of the journal; the number is then not used
  Result<std::int64_t> NextNumber();

  Timers& timers_;
  const AgentConfig config_;
  const World world_;
  engine::DurableStore& journal_;
  engine::History& history_;
  Publisher publisher_;
  EmbeddedRegister register_;

  Membership members_;
  std::map<std::string, Job> jobs_;
  std::set<std::string> ended_;  // names of stopped jobs whose memory was freed
  std::optional<JobOperation> operation_;
  engine::Calibration calibration_;
  engine::LinkSpeeds links_;
  std::optional<LinkRound> link_round_;
  NodeQueryClient node_queries_;
  ViewDesk views_;
  SnapshotDesk snapshots_;
  std::map<std::string, Opening> openings_;
  std::optional<Txn> txn_;                     // running
  std::optional<engine::TxnStatus> last_txn_;  // the last finished one
  std::map<std::string, ReplyPtr> replies_;    // by request id
  std::deque<std::string> reply_order_;
  std::map<std::string, std::string> clients_;  // requester, by identity of a connection
  std::deque<std::string> client_order_;
  Rendezvous rendezvous_;
  std::vector<engine::Sample> samples_;
  Clock::time_point next_retention_{};
  std::uint64_t last_order_ = 0;  // that was sent
  std::vector<Timers::TimerId> periodic_;
};

}  // namespace tessera::agents
