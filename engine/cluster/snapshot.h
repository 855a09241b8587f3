// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The state of a cluster at one moment, as plain values. The registrar makes it, the wire carries
/// it, command line and panel show it. Sizes are bytes, times are seconds.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cluster/certificate.h"
#include "engine/cluster/checkpoint_status.h"
#include "engine/cluster/data_status.h"
#include "engine/cluster/decision_status.h"
#include "engine/cluster/metrics.h"
#include "engine/cluster/snapshot_status.h"
#include "engine/cluster/step_options.h"
#include "engine/cluster/survival.h"
#include "ptc/base/result.h"
#include "ptc/mesh.h"

namespace tessera::engine {

enum class NodeState : std::uint8_t { kJoining, kAlive, kSuspect, kUnmanaged, kDead, kLeft };
enum class JobState : std::uint8_t {
  kStarting,
  kRunning,
  kPausing,
  kPaused,
  kReconfiguring,
  kWaitingDecision,
  kSuspended,  // its ranks have ended, its nodes keep what they hold of its state
  kStopped,
  kFailed,  // it never started
  kUnknown  // nodes hold it, and the registrar does not know it: only name, epoch and reason count
};
/// One enum for JSON, history and panel.
enum class TxnPhase : std::uint8_t {
  kPlanned,
  kPreparing,
  kPrecopying,
  kPausing,
  kTransferring,
  kVerifying,
  kCommitting,
  kResuming,
  kDone,
  kRollingBack,
  kRolledBack,
  kFailed,
  kNeedsDecision,
  kInDoubt
};
enum class Severity : std::uint8_t { kDebug, kInfo, kWarning, kError };
/// What a transaction does to its job.
enum class ChangeKind : std::uint8_t {
  kReconfigure,  // another mesh or other devices; also where an old history does not tell
  kRecover,      // continues a job that has lost devices
  kLoad,         // puts the state of a checkpoint in the place of the present one
  kHandIn,       // puts state of a client there
  kBegin         // begins a job with the state of a checkpoint
};

std::string_view ToString(NodeState state);  // "alive", …
std::string_view ToString(JobState state);   // "waiting_decision", …
std::string_view ToString(TxnPhase phase);   // "rolling_back", …
std::string_view ToString(Severity severity);
std::string_view ToString(ChangeKind kind);  // "reconfigure", "recover", "load", "hand_in", "begin"
Result<NodeState> ParseNodeState(std::string_view text);
Result<JobState> ParseJobState(std::string_view text);
Result<TxnPhase> ParseTxnPhase(std::string_view text);
Result<Severity> ParseSeverity(std::string_view text);
Result<ChangeKind> ParseChangeKind(std::string_view text);
/// Whether this phase is the last one of a transaction.
bool IsFinal(TxnPhase phase);

struct DeviceStatus {
  ptc::DeviceId id;
  std::int64_t used_bytes = 0;
  std::int64_t total_bytes = 0;
  std::string job;          // empty: in the pool
  std::optional<int> rank;  // set if `job` is not empty
  bool joining = false;     // a rank is being started here for a transaction
  bool failed = false;
  // In the job's present layout; 0 for a device of the pool.
  std::int64_t pieces = 0, parameter_bytes = 0, optimizer_bytes = 0;
  double busy_seconds = 0;   // that its rank computes in a step, without waiting; 0: unknown
  double peers_seconds = 0;  // of its peers, if its rank is slower than these; else 0
  friend bool operator==(const DeviceStatus&, const DeviceStatus&) = default;
};

/// What the lanes and the other connections of a node have refused or had to repeat since its agent
/// started.
struct NetworkFaults {
  std::int64_t malformed = 0;           // messages that are no requests
  std::int64_t not_admitted = 0;        // requests with a wrong ticket
  std::int64_t dropped = 0;             // frames of another transfer, or that were not requested
  std::int64_t corrupt = 0;             // frames with a wrong checksum or digest, requested again
  std::int64_t switched = 0;            // frames requested from another holder
  std::int64_t connections_closed = 0;  // since there were too many at once
  friend bool operator==(const NetworkFaults&, const NetworkFaults&) = default;
};

/// "3 corrupt frames requested again, 1 stray frame dropped"; empty if there are none.
std::string ToText(const NetworkFaults& faults);

struct NodeStatus {
  std::int32_t node = 0;  // n0 is 0
  NodeState state = NodeState::kJoining;
  double last_seen = 0;  // seconds ago
  std::vector<DeviceStatus> devices;
  std::string host = {};        // nodes with equal hosts share memory
  std::string address = {};     // of its ranks, for collectives
  std::string version = {};     // of its agent
  std::int64_t view_bytes = 0;  // memory of its views
  NetworkFaults network = {};
  bool is_state_known = true;   // false: at an earlier moment of which the history does not tell it
  std::string rack = {};        // as its configuration names it; empty: it names none
  std::string gpu = {};         // "NVIDIA H200"; empty: its devices are memory of the host
  std::string gpu_driver = {};  // "CUDA 13.0"
  std::string problem = {};     // why its agent takes no part, as it says; else empty
  friend bool operator==(const NodeStatus&, const NodeStatus&) = default;
};

struct JobStatus {
  std::string name;
  std::string model;
  JobState state = JobState::kStarting;
  std::string reason;  // of a failure or a wait; empty otherwise
  std::int64_t step = 0;
  std::optional<double> loss;
  std::optional<double> tokens_per_second;
  ptc::MeshShape mesh;
  std::vector<ptc::DeviceId> devices;  // rank order
  std::int64_t epoch = 0;
  std::int64_t timeline = 0;
  std::string layout_hash;
  std::int64_t global_batch = 0;
  std::int64_t num_tensors = 0;
  std::int64_t state_bytes = 0;  // one whole copy
  std::int64_t max_steps = 0;    // 0: no end
  StepOptions options = {};
  std::optional<double> step_seconds = {};  // median of the last steps
  std::string command = {};                 // of a job that runs its own program
  DataStatus data = {};
  std::string at_change = {};  // deliberate error at a change of the mesh; usually empty
  OnFailure on_failure = OnFailure::kAsk;
  std::optional<DecisionStatus> decision = {};  // while the job lacks devices
  SnapshotStatus snapshots = {};
  CheckpointStatus checkpoints = {};
  Metrics metrics = {};                   // the last value of each
  std::optional<Survival> survival = {};  // of its layout; nullopt: not known
  bool starts_again = false;              // suspended, and its ranks start again without a command
  bool finished = false;                  // it has made all of its steps
  double started = 0;                     // by `job start`, seconds since 1970; 0: not known
  std::string owner = {};                 // who started it, "tesseractl, lena@lab3"; or empty
  /// Tells jobs that had one name apart: when it was started, in nanoseconds since 1970 by the
  /// clock of the cluster. 0: not known.
  std::int64_t origin = 0;
  friend bool operator==(const JobStatus&, const JobStatus&) = default;
};

/// A flow of a transfer. Stalled: it has begun, is not done, and nothing has arrived for 3 s.
enum class FlowState : std::uint8_t { kWaiting, kMoving, kStalled, kDone };
std::string_view ToString(FlowState state);

/// The bytes that one device sends another in a transaction.
struct FlowStatus {
  ptc::DeviceId source;
  ptc::DeviceId destination;
  std::int64_t bytes_done = 0;
  std::int64_t bytes_total = 0;
  double bytes_per_second = 0;
  FlowState state = FlowState::kWaiting;  // only of a transfer that runs
  /// Why it stalls, is sent again or comes from another device; empty if it does none of these.
  std::string reason = {};
  friend bool operator==(const FlowStatus&, const FlowStatus&) = default;
};

/// The lowest limit of a transaction, bytes per second: a frame of 1 MiB takes a second.
inline constexpr std::int64_t kLeastThrottle = 1'000'000;

struct TxnStatus {
  std::int64_t id = 0;
  std::string job;
  TxnPhase phase = TxnPhase::kPlanned;
  ptc::MeshShape from_mesh, to_mesh;
  std::vector<ptc::DeviceId> from_devices, to_devices;  // rank order
  std::int64_t bytes_done = 0;
  std::int64_t bytes_total = 0;
  std::optional<double> eta;         // seconds, if known
  double paused = 0;                 // seconds that the job has been paused
  std::int64_t checksums_equal = 0;  // moved cells with equal digests at both ends
  std::string reason;                // of a rollback, a failure or a long preparation
  std::vector<FlowStatus> flows;
  bool can_cancel = false;  // before the commit point
  StepOptions from_options = {}, to_options = {};
  /// The range of `eta` if the rate varies as it did so far.
  std::optional<double> eta_least = {}, eta_most = {};
  std::int64_t throttle = 0;        // bytes per second that a node sends or receives; 0: no limit
  std::int64_t gradients_done = 0;  // bytes of gradients that have moved, also before the pause
  std::int64_t round = 0;           // that moves now; 0: none
  std::int64_t rounds = 0;          // of the change; 0: it moves at once
  /// While it copies over the gradients of several steps: which of them, and of how many; else 0.
  std::int64_t leg = 0, legs = 0;
  ChangeKind kind = ChangeKind::kReconfigure;
  bool rests = false;     // the job makes no steps before the commit: it is paused, or suspended
  std::int64_t step = 0;  // after which the job continues; 0: not decided yet
  friend bool operator==(const TxnStatus&, const TxnStatus&) = default;
};

/// The state of a node from a moment on.
struct NodeNote {
  std::int32_t node = 0;
  NodeState state = NodeState::kAlive;
  std::vector<std::int32_t> failed = {};  // the indices of its failed devices, ascending
  friend bool operator==(const NodeNote&, const NodeNote&) = default;
};
/// The state of a node and of its devices.
NodeNote NoteOf(const NodeStatus& node);
/// "3 alive 0 2": number, state, failed devices.
std::string ToString(const NodeNote& note);
Result<NodeNote> ParseNodeNote(std::string_view text);

struct Event {
  std::int64_t sequence = 0;
  double time = 0;  // wall clock, seconds since 1970; for display only
  Severity severity = Severity::kInfo;
  std::string source;  // "n0", "gpt-mini", "txn 3"
  std::string text;
  std::optional<NodeNote> note = {};  // of a node whose state or devices have changed
  friend bool operator==(const Event&, const Event&) = default;
};

struct Sample {
  std::string job;
  std::int64_t step = 0;
  double loss = 0;
  double grad_norm = 0;
  double tokens_per_second = 0;
  double time = 0;            // wall clock
  std::int64_t sequence = 0;  // in the history; 0 for a sample from elsewhere
  Metrics metrics = {};       // that the program has reported with the step
  std::int64_t origin = 0;    // as of JobStatus
  friend bool operator==(const Sample&, const Sample&) = default;
};

/// Which panel operates the cluster: a courtesy among operators, which refuses nobody.
struct OperatorLease {
  std::string panel;  // chosen by it at random
  std::string who;    // "lena: tessera, lena@lab3", as in events
  double since = 0;   // seconds, Unix time
  friend bool operator==(const OperatorLease&, const OperatorLease&) = default;
};

/// Present in clusters that a simulator plays: nothing in them is real but the messages.
struct SimulationStatus {
  std::string hardware;   // "h100"
  double speed = 1;       // simulated seconds per second, as wanted
  double reached = 1;     // as they pass; less if this machine cannot compute them as fast
  std::int64_t seed = 1;  // the same seed and the same requests give the same run
  friend bool operator==(const SimulationStatus&, const SimulationStatus&) = default;
};

struct ClusterSnapshot {
  std::string cluster;
  std::int64_t sequence = 0;
  double link_bytes_per_second = 0;  // emulated port limit, 0: none
  bool one_host = false;
  std::vector<NodeStatus> nodes;
  std::vector<JobStatus> jobs;
  std::optional<TxnStatus> transaction;  // the running one, or the last one
  std::string history_problem = {};      // why the history is not recorded; empty if it is
  bool plain_lanes = false;              // bulk data of some node is not encrypted
  std::optional<OperatorLease> lease = {};
  std::optional<SimulationStatus> simulation = {};
  /// The registrar's clock when it answered, seconds since 1970; 0 in what it publishes.
  double time = 0;
  friend bool operator==(const ClusterSnapshot&, const ClusterSnapshot&) = default;
};

/// Whether the state is copied while the job computes the gradients of a step, so that only these
/// move in the pause.
struct OverlapPlan {
  bool chosen = false;
  double plain_pause = 0;           // expected, seconds: of the way without overlap
  double pause = 0;                 // of the way with it; 0: it is impossible
  std::int64_t gradient_bytes = 0;  // that move in the pause
  std::int64_t follow_bytes = 0;    // of gradients that move before it, with more than one step
  /// Over the gradients of how many steps the state is copied. What is copied before the last one
  /// follows by the gradients of the steps between.
  int steps = 1;
  std::string why;  // one sentence
  friend bool operator==(const OverlapPlan&, const OverlapPlan&) = default;
};

/// What a device needs beside its state while it moves in rounds: new pieces, and the piece table.
struct ExtraMemory {
  ptc::DeviceId device;
  std::int64_t planned = 0;
  std::int64_t measured = 0;  // in the round that needed most; 0: not known
  friend bool operator==(const ExtraMemory&, const ExtraMemory&) = default;
};
/// A move in rounds, for devices without room for old and new state side by side.
struct MoveInRounds {
  std::int64_t move_memory = 0;  // the bound on the extra memory of a device
  std::int64_t rounds = 0;       // 0: the change moves at once
  std::vector<ExtraMemory> extra = {};
  friend bool operator==(const MoveInRounds&, const MoveInRounds&) = default;
};

/// "67108864 5 n0g0=1048576/1048064": the bound, the rounds, and the devices with what was planned
/// and measured; empty without rounds.
std::string ToText(const MoveInRounds& rounds);
/// \error kInvalidArgument naming the text
Result<MoveInRounds> ParseMoveInRounds(const std::string& text);

/// The result of a dry run.
struct PlanSummary {
  std::string job;
  std::int64_t epoch = 0;  // the plan is bound to this epoch and `from_layout_hash`
  std::string from_layout_hash;
  ptc::MeshShape from_mesh, to_mesh;
  std::vector<ptc::DeviceId> from_devices, to_devices;  // rank order
  std::string hash;
  std::int64_t kept = 0, device = 0, host = 0, network = 0, snapshot = 0, storage = 0;
  bool relayed = false;             // bytes for several devices of a node cross to it once
  std::int64_t network_direct = 0;  // network bytes if no byte were relayed
  std::int64_t volume_bound = 0;
  PlanCertificate certificate = {};
  std::vector<ptc::DeviceId> idle;  // given but not used
  struct Peak {
    ptc::DeviceId device;
    std::int64_t bytes = 0;
    std::int64_t capacity = 0;
    friend bool operator==(const Peak&, const Peak&) = default;
  };
  std::vector<Peak> peak_memory;
  std::int64_t single_source = 0;
  double pause_estimate = 0;  // of the way that is chosen
  OverlapPlan overlap = {};
  MoveInRounds in_rounds = {};
  bool rollback = true;  // until the end; a move in rounds can be rolled back until the first one
  std::vector<FlowStatus> flows;  // bytes_total by (source, destination) device
  std::int64_t global_batch = 0;
  std::string why;  // one sentence on the choice of the mesh; empty if it was given
  StepOptions from_options = {}, to_options = {};
  std::optional<double> from_step_seconds = {}, to_step_seconds = {};  // estimates
  SnapshotMemory snapshots = {};          // of the new layout, if the job has snapshots
  std::optional<Survival> survival = {};  // of the new layout; nullopt: not known
  std::int64_t moved() const { return host + network + snapshot + storage; }
  friend bool operator==(const PlanSummary&, const PlanSummary&) = default;
};

/// A transaction in the history.
struct HistoryEntry {
  std::int64_t id = 0;
  std::string job;
  std::string from, to;  // text form of the meshes with devices
  double started = 0;    // wall clock
  std::string result;    // "committed", "rolled_back", "failed", "unknown"; empty while running
  std::string reason;
  std::map<std::string, double> phases;  // phase name -> seconds
  double pause = 0;
  std::int64_t bytes_moved = 0;
  std::int64_t volume_bound = 0;
  /// Of the state that moved: after `step`, or one step before if only the gradients of `step`
  /// moved in the pause.
  std::string digest_before, digest_after;
  std::int64_t step = 0;   // after which the job continued
  std::int64_t epoch = 0;  // after it
  StepOptions from_options = {}, to_options = {};
  std::string requester = {};                                // program and user
  std::int64_t kept = 0, device = 0, host = 0, network = 0;  // planned bytes by class
  double pause_estimate = 0;                                 // of the plan, seconds
  std::vector<FlowStatus> flows = {};                        // bytes of each pair of devices
  MoveInRounds in_rounds = {};
  /// Bytes of gradients, which move beside the state if that is copied while the job trains.
  std::int64_t gradients_planned = 0, gradients_moved = 0;
  std::int64_t origin = 0;  // of the job, as of JobStatus
  ChangeKind kind = ChangeKind::kReconfigure;
  /// Seconds from the end of the step before the change to that of the step after it, minus those of
  /// the next step: what a user feels of the pause. Absent until these steps are made, if the job was
  /// paused before, and if the registrar restarted meanwhile.
  std::optional<double> gap = {};
  friend bool operator==(const HistoryEntry&, const HistoryEntry&) = default;
};

/// Whether the change was one of this job, and not of an earlier one of its name.
inline bool IsOf(const HistoryEntry& entry, const JobStatus& job) {
  return entry.job == job.name && entry.origin == job.origin;
}

/// A configuration that a job could run on a set of devices, with the cost of the move to it.
struct Candidate {
  ptc::MeshShape mesh;
  StepOptions options = {};
  std::vector<ptc::DeviceId> devices = {};  // used: of a start by rank, else ascending
  std::vector<ptc::DeviceId> idle = {};     // given but not used
  double step_seconds = 0;                  // estimate
  double pause_seconds = 0;                 // estimate of the move
  std::int64_t moved_bytes = 0;
  std::int64_t peak_bytes = 0;  // of the device nearest to its capacity, during the move
  std::int64_t capacity = 0;    // of that device
  bool current = false;         // the job runs it now
  bool recommended = false;     // at most one of a proposal
  bool fastest = false;         // at most one: by the estimates, of those that fit
  bool moves_least = false;  // at most one: of changes that leave no more idle than the recommended
  std::optional<Survival> survival = {};  // nullopt: not known
  friend bool operator==(const Candidate&, const Candidate&) = default;
  bool fits() const { return peak_bytes <= capacity; }
};

struct Proposal {
  std::string job;
  std::vector<Candidate> candidates = {};  // best first; those that do not fit last
  std::string why = {};                    // one sentence on the recommended one
  /// When the cost model's constants were measured on this cluster; empty: the built-in ones.
  std::optional<double> calibrated = {};  // wall clock
  friend bool operator==(const Proposal&, const Proposal&) = default;
};

/// One finding about a host, with a remedy.
struct Check {
  enum class Verdict : std::uint8_t { kOk, kWarning, kFailed, kSkipped };
  std::optional<std::int32_t> node = {};  // nullopt: the host of the client
  std::string name = {};                  // "clock", "huge pages", …
  Verdict verdict = Verdict::kOk;
  std::string value = {};   // the finding
  std::string remedy = {};  // empty if none is needed
  friend bool operator==(const Check&, const Check&) = default;
};
std::string_view ToString(Check::Verdict verdict);  // "ok", "warning", "failed", "skipped"
Result<Check::Verdict> ParseVerdict(std::string_view text);

}  // namespace tessera::engine
