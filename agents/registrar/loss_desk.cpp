// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/loss_desk.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "agents/checkpoint/checkpoint_place.h"
#include "agents/registrar/compute.h"
#include "agents/registrar/describe_share.h"
#include "engine/search/fit.h"
#include "ptc/base/counted.h"

namespace tessera::agents {
namespace {

constexpr std::chrono::seconds kTryAgainAfter{3};  // after a recovery that failed

std::vector<ptc::DeviceId> DevicesOf(std::span<const engine::LostDevice> lost) {
  std::vector<ptc::DeviceId> out;
  for (const engine::LostDevice& device : lost) out.push_back(device.device);
  return out;
}

/// What was chosen at the cost of one checkpoint does not hold for an older one.
void AskAgain(Job& job) {
  job.device_loss->wanted.reset();
  if (job.on_failure != engine::OnFailure::kShrink) job.device_loss->chosen.reset();
}

std::string SourceNoun(engine::RecoverySource source) {
  return source == engine::RecoverySource::kReplicas   ? "replicas"
         : source == engine::RecoverySource::kSnapshot ? "a snapshot"
                                                       : "a checkpoint";
}

/// "on 4 GPUs as dp=2,tp=2"
std::string WayPlace(const engine::RecoveryWay& way) {
  return fmt::format("on {} as {}", Counted(std::ssize(way.devices), "GPU"),
                     engine::ShortText(way.mesh, way.options));
}

/// "without losing a step", "from the snapshot of step 30, 10 steps lost"
std::string WayCost(const engine::RecoveryWay& way) {
  if (way.source == engine::RecoverySource::kReplicas) return "without losing a step";
  const std::string from = way.source == engine::RecoverySource::kSnapshot
                               ? "snapshot"
                               : fmt::format("checkpoint '{}'", way.checkpoint);
  return fmt::format("from the {} of step {}, {} lost", from, way.step,
                     Counted(way.steps_lost, "step"));
}

}  // namespace

// The job's own devices, also those that hold nothing any more, and then spare ones: first those of
// nodes that the job is on anyway.
Remaining LossDesk::RemainingDevices(const Job& job) const {
  Remaining out;
  const std::set<std::int32_t> nodes = NodesOf(job);
  for (const bool on_its_nodes : {true, false}) {
    for (const auto& [number, node] : members_.nodes()) {
      if (nodes.contains(number) != on_its_nodes) continue;
      for (const wire::NodeDevice& device : node.devices) {
        const ptc::DeviceId id{number, device.index()};
        if (!jobs_.CheckDevice(id, job.name)) continue;
        if (Has(job, id)) {
          out.own.push_back(id);
        } else if (device.job().empty()) {  // else it is about to be freed
          out.spare.push_back(id);
        }
      }
    }
  }
  return out;
}

std::optional<LossDesk::UsableSnapshot> LossDesk::FindSnapshot(const Job& job) const {
  const SnapshotRow* row = uses_.snapshots.Find(job.name, job.timeline);
  if (!row) return std::nullopt;
  UsableSnapshot out{row, {}};
  for (const auto& [number, node] : members_.nodes()) {
    const bool is_there = node.state == engine::NodeState::kAlive;
    if (is_there && node.snapshots.contains(row->id)) out.nodes.insert(number);
  }
  if (!uses_.snapshots.IsCovered(job.name, out.nodes)) return std::nullopt;
  return out;
}

std::optional<UsableCheckpoint> LossDesk::FindCheckpoint(const Job& job) const {
  // What a user has chosen holds until the loss is over, unless it cannot be loaded.
  if (job.device_loss && job.device_loss->checkpoint && job.device_loss->checkpoint->chosen &&
      job.device_loss->failures == 0) {
    return job.device_loss->checkpoint;
  }
  const engine::CheckpointEntry* const newest = uses_.checkpoints.Newest(job.name);
  if (!newest) return std::nullopt;
  return UsableCheckpoint{newest->path, newest->step};
}

wire::ViewReply LossDesk::SharesOf(const UsableSnapshot& snapshot) const {
  wire::ViewReply out;
  out.set_view(snapshot.row->id);
  Encode(snapshot.row->state, out.mutable_job());
  for (const std::int32_t number : snapshot.nodes) {
    const Membership::Node& node = *members_.Find(number);
    const wire::HeldSnapshot& held = node.snapshots.at(snapshot.row->id);
    wire::ViewShare* share = out.add_shares();
    share->set_node(number);
    share->set_bytes(held.bytes());
    share->set_path(held.path());
    DescribeShare(node, snapshot.row->state.job, snapshot.row->id, share);
  }
  return out;
}

void LossDesk::Note(Job& job, engine::ConsistentCut cut) {
  DeviceLoss loss;
  loss.lost = DevicesOf(cut.lost);
  loss.remaining = RemainingDevices(job);
  const auto snapshot = FindSnapshot(job);
  if (snapshot) loss.snapshot = snapshot->row->id;
  loss.checkpoint = FindCheckpoint(job);
  const bool is_new = !job.device_loss || job.device_loss->lost != loss.lost;
  if (!is_new && job.device_loss->remaining == loss.remaining &&
      job.device_loss->snapshot == loss.snapshot &&
      job.device_loss->checkpoint == loss.checkpoint) {
    job.device_loss->cut = std::move(cut);
    return;
  }
  if (job.device_loss) {  // the job is still suspended
    loss.failed_snapshot = job.device_loss->failed_snapshot;
    loss.snapshot_failures = job.device_loss->snapshot_failures;
  }
  if (!is_new) {
    loss.way_out = std::move(job.device_loss->way_out);
    loss.announced = job.device_loss->announced;
    loss.chosen = job.device_loss->chosen;
    loss.wanted = job.device_loss->wanted;
    loss.accepted_steps = job.device_loss->accepted_steps;
    loss.decide_at = job.device_loss->decide_at;
  } else if (job.waits || job.on_failure == engine::OnFailure::kWait) {
    loss.chosen = engine::LossChoice::kWait;
  } else if (job.on_failure == engine::OnFailure::kShrink) {
    loss.chosen = engine::LossChoice::kContinue;
  }
  if (is_new) uses_.checkpoints.ExamineNewest(job.name);
  loss.cut = std::move(cut);
  loss.search = ++last_search_;
  LossFacts facts{uses_.plans.BasisOf(job), loss.remaining, loss.lost,
                  loss.cut.lost.empty() ? job.reason : engine::ReasonOf(loss.cut.lost),
                  std::max(job.step, loss.cut.step)};
  if (snapshot) facts.snapshot_step = snapshot->row->state.step;
  facts.snapshot_failed = snapshot && loss.failed_snapshot == snapshot->row->id &&
                          loss.snapshot_failures >= DeviceLoss::kMostSnapshotFailures;
  facts.checkpoint = loss.checkpoint;
  facts.wanted = loss.wanted;
  const std::uint64_t search = loss.search;
  job.device_loss = std::move(loss);
  ComputeWith(
      world_, [facts = std::move(facts)] { return FindWayOut(facts); },
      [this, name = job.name, search](WayOut found) { OnFound(name, search, std::move(found)); });
  MarkDirty();
}

void LossDesk::OnFound(const std::string& name, std::uint64_t search, WayOut found) {
  Job* const job = jobs_.Find(name);
  if (!job || !job->device_loss || job->device_loss->search != search) return;
  DeviceLoss& loss = *job->device_loss;
  loss.way_out = std::move(found);
  loss.is_current = true;
  const engine::DecisionStatus& status = loss.way_out->status;
  const bool costs_nothing = status.loss == engine::LossCase::kReplicasLive;
  // What was chosen is gone, and what is left instead costs more.
  const bool costs_more = loss.accepted_steps && status.can_continue() &&
                          status.way().steps_lost > *loss.accepted_steps;
  if (costs_more && loss.chosen == engine::LossChoice::kContinue) AskAgain(*job);
  if (!loss.chosen && !loss.decide_at && status.can_continue() && costs_nothing) {
    loss.decide_at = timers_.now() + std::chrono::seconds(config_.decision_seconds);
  }
  if (loss.announced != status.can_continue()) {
    loss.announced = status.can_continue();
    AddEvent(engine::Severity::kError, job->name,
             fmt::format("has lost GPUs: {}; {}", status.reason, TextOf(loss)));
  }
  MarkDirty();
  around_.restart_jobs();
}

std::string LossDesk::TextOf(const DeviceLoss& loss) {
  if (!loss.way_out) return "what can be done is being worked out";
  const engine::DecisionStatus& status = loss.way_out->status;
  if (!status.can_continue()) {
    return fmt::format("it cannot continue: {}; {} is kept", status.why_not,
                       status.missing_bytes > 0 ? "what is left of it" : "its state");
  }
  const std::string how = WayPlace(status.way());
  const std::string cost = WayCost(status.way());
  if (loss.has_given_up()) {
    return fmt::format("it waits, because continuing failed; it could try again {}", how);
  }
  if (loss.way_out->by_itself || loss.chosen == engine::LossChoice::kContinue) {
    return fmt::format("it continues {}, {}", how, cost);
  }
  if (loss.chosen == engine::LossChoice::kWait) {
    return fmt::format("it waits; it could continue {}, {}", how, cost);
  }
  return fmt::format("it can continue {}, {}, or wait", how, cost);
}

std::optional<engine::DecisionStatus> LossDesk::StatusOf(const Job& job) const {
  const bool is_known =
      job.state == engine::JobState::kSuspended && job.device_loss && job.device_loss->way_out;
  if (!is_known) return std::nullopt;
  engine::DecisionStatus status = job.device_loss->way_out->status;
  status.chosen = job.device_loss->chosen;
  if (job.device_loss->has_given_up()) status.chosen = engine::LossChoice::kWait;
  if (job.device_loss->decide_at && !status.chosen && job.restarts) {
    const std::chrono::duration<double> left = *job.device_loss->decide_at - timers_.now();
    status.seconds_left = std::max(0.0, left.count());
  }
  for (const ptc::DeviceId device : status.lost) {
    const Membership::Node* const node = members_.Find(device.node);
    if (!node || node->state != engine::NodeState::kAlive) status.awaited.push_back(device);
  }
  return status;
}

void LossDesk::Consider(Job& job) {
  DeviceLoss& loss = *job.device_loss;
  const auto now = timers_.now();
  if (!loss.is_current || !loss.can_continue() || loss.has_given_up()) return;
  if (loss.not_before && now < *loss.not_before) return;
  if (!loss.chosen && loss.decide_at && now > *loss.decide_at) {
    loss.chosen = engine::LossChoice::kContinue;
    AddEvent(engine::Severity::kWarning, job.name, "nobody has decided: " + TextOf(loss));
  }
  if (!loss.way_out->by_itself && loss.chosen != engine::LossChoice::kContinue) return;
  if (loss.way_out->loads_checkpoint()) return LookAndBegin(job);
  if (const Status begun = BeginRecovery(job, {}); !begun) NoteFailure(job, begun.error());
}

void LossDesk::NoteFailure(Job& job, const Error& why) {
  if (job.device_loss->way_out->loads_checkpoint()) AskAgain(job);
  job.device_loss->not_before = timers_.now() + kTryAgainAfter;
  AddEvent(engine::Severity::kError, job.name, "not recovered: " + why.ToString());
}

void LossDesk::LookAndBegin(Job& job) {
  DeviceLoss& loss = *job.device_loss;
  if (std::exchange(loss.is_looking, true)) return;
  const std::string path = loss.checkpoint->path;
  uses_.checkpoints.Look(path, [this, name = job.name, search = loss.search, path](auto manifest) {
    Job* const now = jobs_.Find(name);
    if (!now || !now->device_loss || now->device_loss->search != search) return;
    now->device_loss->is_looking = false;
    const auto begin = [&]() -> Status {
      if (!manifest) return manifest.error();
      TESSERA_TRY(StoredState state,
                  StateFor(*manifest, path, now->settings, now->layout.collection(), false));
      return BeginRecovery(*now, std::move(state));
    };
    if (manifest && !uses_.transactions.CheckIdle()) return;  // the next look begins it
    const Status begun = begin();
    if (begun) return;
    ++now->device_loss->failures;
    uses_.checkpoints.NoteProblem(path, begun.error().message, false);
    NoteFailure(*now, begun.error());
  });
}

Status LossDesk::BeginRecovery(Job& job, std::optional<StoredState> stored) {
  const WayOut& way_out = *job.device_loss->way_out;
  const engine::DecisionStatus& status = way_out.status;
  const bool returns = status.way().source == engine::RecoverySource::kSnapshot;
  Recovery recovery{status.lost, job.device_loss->cut.step, status.reason};
  if (stored) {
    recovery.lost = AllDevices(job);
    recovery.step = stored->step;
    recovery.steps_lost = status.way().steps_lost;
    recovery.checkpoint = std::move(stored);
  } else if (returns) {
    const auto snapshot = FindSnapshot(job);
    if (!snapshot) return Unavailable("its snapshot is no longer complete");
    recovery.lost = AllDevices(job);
    recovery.step = snapshot->row->state.step;
    recovery.steps_lost = status.way().steps_lost;
    recovery.digest = snapshot->row->digest;
    recovery.snapshot = SharesOf(*snapshot);
  } else {
    job.step = std::max(job.step, recovery.step);
    uses_.steps.RecordDecided(job, recovery.step);
  }
  TxnOrigin origin;
  origin.unrecorded = true;  // a full disk must not keep a job from coming back
  origin.recovery = std::move(recovery);
  TESSERA_RETURN_IF_ERROR(uses_.transactions.Begin(job, *way_out.plan, std::move(origin)));
  const Txn& txn = *uses_.transactions.running();
  const engine::PlanSummary& summary = txn.planned.summary;
  AddEvent(engine::Severity::kWarning, fmt::format("txn {}", txn.id),
           fmt::format("{} continues on {} as {}, {} ({})", job.name,
                       Counted(std::ssize(summary.to_devices), "GPU"),
                       engine::ShortText(summary.to_mesh, summary.to_options),
                       engine::BytesText(summary.moved()), CostOf(*txn.recovery)));
  uses_.transactions.Go();
  return OkStatus();
}

// One failure may be that of a node which is silent for a moment.
void LossDesk::NoteSnapshotFailure(Job& job, const Txn& txn) {
  const bool returned = txn.recovery->steps_lost && !txn.checkpoint();
  if (!returned || !job.device_loss || txn.cancelled) return;
  DeviceLoss& loss = *job.device_loss;
  if (std::exchange(loss.failed_snapshot, loss.snapshot) != loss.snapshot)
    loss.snapshot_failures = 0;
  if (++loss.snapshot_failures < DeviceLoss::kMostSnapshotFailures || !loss.checkpoint) return;
  loss.remaining = {};  // so that the search is made again
  AskAgain(job);
}

void LossDesk::OnRecovered(Job& job, const Txn& txn, bool committed, const std::string& reason) {
  if (!committed) {
    job.state = engine::JobState::kSuspended;
    const StoredState* const stored = txn.checkpoint();
    if (job.device_loss && stored) AskAgain(job);
    // The error of a checkpoint that cannot be read names it or a file in it. Such a checkpoint is
    // not offered again.
    if (stored && reason.find(stored->path) != std::string::npos) {
      const bool is_damaged = reason.find("is damaged") != std::string::npos;
      uses_.checkpoints.NoteProblem(stored->place, reason, is_damaged);
    }
    NoteSnapshotFailure(job, txn);
    if (txn.run->machine().gave_up()) {
      job.device_loss.reset();  // its state lies elsewhere now
    } else if (job.device_loss && txn.cancelled) {
      job.device_loss->failures = DeviceLoss::kMostFailures;
    } else if (job.device_loss) {
      ++job.device_loss->failures;
      job.device_loss->not_before = timers_.now() + kTryAgainAfter;
    }
    // A node that came back meanwhile has missed the end of its ranks.
    uses_.stops.Stop(job, false);
    job.unreported = NodesOf(job);
    AddEvent(engine::Severity::kError, job.name,
             fmt::format("still suspended after step {}: {}", job.step, reason));
    return;
  }
  if (txn.recovery->steps_lost && !txn.recovery->checkpoint)
    uses_.snapshots.OnReturned(job.name, job.timeline);
  job.device_loss.reset();
  job.waits = false;
  job.waits_for.clear();
  job.reason.clear();
  const std::chrono::duration<double> took =
      timers_.now() - job.suspended_since.value_or(timers_.now());
  AddEvent(engine::Severity::kWarning, job.name,
           fmt::format("continues on {} after {:.1f} s ({})",
                       Counted(job.layout.mesh().num_ranks(), "GPU"), took.count(),
                       CostOf(*txn.recovery)));
}

void LossDesk::SearchAgain(DeviceLoss& loss) {
  loss.is_current = false;
  loss.is_looking = false;
  loss.search = ++last_search_;  // what is looked for now does not count
  loss.snapshot = std::nullopt;  // so that the search is made again
  loss.remaining = {};
}

Result<std::string> LossDesk::ChooseCheckpoint(Job& job, const std::string& path,
                                               const checkpoint::Manifest& manifest,
                                               const PendingReply& reply) {
  TESSERA_RETURN_IF_ERROR(StateFor(manifest, path, job.settings, job.layout.collection(), false));
  if (job.state != engine::JobState::kSuspended || !job.device_loss) {
    return FailedPrecondition(fmt::format("job '{}' is {}: its state cannot be replaced now",
                                          job.name, ToString(job.state)));
  }
  DeviceLoss& loss = *job.device_loss;
  loss.checkpoint = UsableCheckpoint{path, manifest.step, true};
  loss.chosen = engine::LossChoice::kContinue;
  loss.accepted_steps.reset();
  loss.failures = 0;
  loss.not_before.reset();
  SearchAgain(loss);
  job.waits = false;
  job.restarts = true;
  job.crashes.Forgive();
  static_cast<void>(jobs_.Journal(job));
  const std::string text =
      fmt::format("{} loads checkpoint '{}' of step {}", job.name, ShownPlace(path), manifest.step);
  AddEvent(engine::Severity::kInfo, job.name, "decided: " + text + reply.RequesterText());
  MarkDirty();
  around_.restart_jobs();
  return text;
}

void LossDesk::OnDecision(const wire::DecisionRequest& request, const ReplyPtr& reply) {
  const Result<Job*> found = jobs_.Need(request.job());
  if (!found) return reply->Fail(found.error());
  Job& job = **found;
  std::string text;
  const auto decide = [&]() -> Status {
    if (request.has_on_failure()) {
      TESSERA_TRY(text, SetOnFailure(job, request.on_failure(), *reply));
    }
    if (request.has_choice()) {
      TESSERA_TRY(text, Choose(job, request, *reply));
    }
    if (request.has_snapshots()) {
      TESSERA_TRY(text, SetSnapshots(job, request.snapshots(), *reply));
    }
    return OkStatus();
  };
  if (const Status decided = decide(); !decided) return reply->Fail(decided.error());
  const auto answer = [reply](const std::string& with) {
    wire::Reply out;
    out.mutable_decision()->set_text(with);
    reply->Done(std::move(out));
  };
  if (request.has_snapshots() && job.snapshots.is_on()) {
    around_.forecast_snapshots(
        job, [answer, text](const std::string& cost) { answer(text + ": " + cost); });
  } else {
    answer(text);
  }
  MarkDirty();
  around_.restart_jobs();
}

Result<std::string> LossDesk::SetOnFailure(Job& job, std::uint32_t number,
                                           const PendingReply& reply) {
  TESSERA_TRY(job.on_failure, DecodeOnFailure(number));
  TESSERA_RETURN_IF_ERROR(jobs_.Journal(job));
  AddEvent(engine::Severity::kInfo, job.name,
           fmt::format("on failure: {}{}", ToString(job.on_failure), reply.RequesterText()));
  return fmt::format("at a loss of devices {} will {}", job.name,
                     job.on_failure == engine::OnFailure::kAsk      ? "ask"
                     : job.on_failure == engine::OnFailure::kShrink ? "continue with what is left"
                                                                    : "wait for them");
}

Result<std::string> LossDesk::SetSnapshots(Job& job, const wire::SnapshotEvery& every,
                                           const PendingReply& reply) {
  TESSERA_TRY(job.snapshots, Decode(every));
  job.keeps_snapshots = false;
  TESSERA_RETURN_IF_ERROR(jobs_.Journal(job));
  around_.consider_snapshot(job);
  AddEvent(engine::Severity::kInfo, job.name,
           fmt::format("snapshots: {}{}", ToString(job.snapshots), reply.RequesterText()));
  if (!job.snapshots.is_on()) return fmt::format("no snapshots of {} are taken", job.name);
  return fmt::format("snapshots of {} are taken every {}", job.name,
                     job.snapshots.steps > 0 ? Counted(job.snapshots.steps, "step")
                                             : fmt::format("{} s", job.snapshots.seconds));
}

Result<std::string> LossDesk::Choose(Job& job, const wire::DecisionRequest& request,
                                     const PendingReply& reply) {
  TESSERA_TRY(const engine::LossChoice choice, DecodeLossChoice(request.choice()));
  std::optional<engine::RecoverySource> source;
  if (request.has_source()) {
    TESSERA_TRY(source, DecodeRecoverySource(request.source()));
  }
  if (const Txn* txn = uses_.transactions.running(); txn && txn->job == job.name && txn->recovery) {
    return FailedPrecondition(
        fmt::format("job '{}' continues already: transaction {}", job.name, txn->id));
  }
  if (job.state != engine::JobState::kSuspended || !job.device_loss) {
    return FailedPrecondition(
        fmt::format("job '{}' is {}: there is nothing to decide", job.name, ToString(job.state)));
  }
  if (choice == engine::LossChoice::kContinue && !job.device_loss->can_continue()) {
    return FailedPrecondition(fmt::format(
        "job '{}' cannot continue: {}", job.name,
        job.device_loss->way_out ? job.device_loss->way_out->status.why_not
                                 : "what can be done is still being worked out; try again"));
  }
  DeviceLoss& loss = *job.device_loss;
  std::string text;
  if (choice == engine::LossChoice::kContinue) {
    const std::vector<engine::RecoveryWay>& ways = loss.way_out->status.ways;
    const auto way =
        source ? std::ranges::find(ways, *source, &engine::RecoveryWay::source) : ways.begin();
    if (way == ways.end()) {
      return FailedPrecondition(
          fmt::format("job '{}' cannot continue from {}: there is none that "
                      "can be used",
                      job.name, SourceNoun(*source)));
    }
    text = fmt::format("it continues {}, {}", WayPlace(*way), WayCost(*way));
    loss.accepted_steps = way->steps_lost;
    if (source) loss.wanted = source;
    if (source && source != engine::RecoverySource::kCheckpoint && loss.checkpoint)
      loss.checkpoint->chosen = false;
    if (way != ways.begin()) SearchAgain(loss);
  } else if (std::exchange(loss.wanted, std::nullopt)) {
    SearchAgain(loss);
  }
  loss.chosen = choice;
  loss.failures = 0;
  loss.not_before.reset();
  job.waits = choice == engine::LossChoice::kWait;
  job.restarts = true;
  job.crashes.Forgive();
  static_cast<void>(jobs_.Journal(job));
  AddEvent(engine::Severity::kInfo, job.name,
           fmt::format("decided: {}{}{}", ToString(choice),
                       source ? " from " + SourceNoun(*source) : "", reply.RequesterText()));
  return text.empty() ? TextOf(loss) : text;
}

}  // namespace tessera::agents
