// SPDX-License-Identifier: Apache-2.0
// Carries out the actions of engine::Coordinator and records the transaction.
#include <fmt/format.h>

#include "agents/registrar/pending_reply.h"
#include "agents/registrar/registrar.h"
#include "agents/registrar/txn_row.h"
#include "engine/search/fit.h"
#include "ptc/base/overloaded.h"

namespace tessera::agents {
namespace {

using engine::TxnPhase;

constexpr char kTxnKey[] = "txn";

/// Journaled so that a retried act is done once, even if an earlier agent of this node did it.
std::string ActKey(const std::string& request_id) { return "act/" + request_id; }

std::string Describe(const ptc::MeshShape& shape, const engine::StepOptions& options) {
  const std::string more = ToString(options);
  return fmt::format("{}×{}×{}{}", shape[ptc::Axis::kDp], shape[ptc::Axis::kTp],
                     shape[ptc::Axis::kPp], more.empty() ? "" : " " + more);
}

}  // namespace

// ---- requests

bool Registrar::AnswerFromAct(const std::string& request_id, const AnswerAct& answer) {
  const auto row = journal_.Get(ActKey(request_id));
  if (request_id.empty() || !row || !*row) return false;
  answer(std::strtoll((**row).c_str(), nullptr, 10));
  return true;
}

void Registrar::OnApply(const std::string& request_id, const wire::ApplyRequest& request,
                        const ReplyPtr& reply) {
  const auto answered = [&](std::int64_t id) {
    wire::Reply out;
    out.mutable_apply()->set_transaction(id);
    reply->Done(std::move(out));
  };
  if (AnswerFromAct(request_id, answered)) return;
  const Result<Job*> found = NeedJob(request.plan().job());
  if (!found) return reply->Fail(found.error());
  Job& job = **found;
  if (const Status can = CheckCanApply(job); !can) return reply->Fail(can.error());
  ComputePlan(job, request.plan(), [this, request_id, request, reply](Result<Planned> planned) {
    const Status begun = planned ? BeginApply(request_id, request, std::move(*planned), reply)
                                 : Status(planned.error());
    if (!begun) reply->Fail(begun.error());
  });
}

Status Registrar::CheckCanApply(const Job& job) const {
  TESSERA_RETURN_IF_ERROR(CheckIdle());
  TESSERA_RETURN_IF_ERROR(CheckNotMeasuring());
  return CheckPausedOrRunning(job);
}

// The cluster may have changed while the plan was made.
Status Registrar::BeginApply(const std::string& request_id, const wire::ApplyRequest& request,
                             Planned planned, const ReplyPtr& reply) {
  TESSERA_TRY(Job* const found, NeedJob(request.plan().job()));
  Job& job = *found;
  TESSERA_RETURN_IF_ERROR(CheckCanApply(job));
  const engine::PlanSummary& summary = planned.summary;
  const bool is_of_now =
      summary.epoch == job.epoch && summary.from_layout_hash == ptc::Hex16(job.layout.hash());
  if (!is_of_now) {
    return FailedPrecondition(
        fmt::format("job '{}' has changed while the plan was made: try again", job.name));
  }
  if (!request.plan_hash().empty() && request.plan_hash() != summary.hash) {
    return FailedPrecondition(
        fmt::format("stale plan: {} is not the plan now, which is {} of epoch {}",
                    request.plan_hash(), summary.hash, job.epoch));
  }
  const bool paused = job.state == engine::JobState::kPaused;
  if (request.at_step() > 0 && (paused || request.at_step() <= job.step)) {
    return FailedPrecondition(fmt::format("--at-step {} is not ahead: job '{}' is {} after step {}",
                                          request.at_step(), job.name, ToString(job.state),
                                          job.step));
  }
  TESSERA_RETURN_IF_ERROR(BeginTxn(job, std::move(planned),
                                   {.request_id = request_id,
                                    .requester = reply->requester(),
                                    .at_step = request.at_step(),
                                    .unrecorded = request.unrecorded()}));
  AddEvent(
      engine::Severity::kInfo, fmt::format("txn {}", txn_->id),
      fmt::format("reconfigure {} {} → {}, {}{}", job.name,
                  Describe(txn_->planned.summary.from_mesh, txn_->entry.from_options),
                  Describe(txn_->planned.summary.to_mesh, txn_->entry.to_options),
                  engine::BytesText(txn_->planned.plan.bytes.moved()), reply->RequesterText()));
  wire::Reply out;
  out.mutable_apply()->set_transaction(txn_->id);
  Encode(txn_->planned.summary, out.mutable_apply()->mutable_plan());
  reply->Done(std::move(out));
  Feed(engine::Begin{});
  return OkStatus();
}

Status Registrar::CheckPausedOrRunning(const Job& job) {
  if (job.state == engine::JobState::kPaused || job.state == engine::JobState::kRunning) {
    return OkStatus();
  }
  return FailedPrecondition(fmt::format("job '{}' is {}", job.name, ToString(job.state)));
}

Status Registrar::BeginTxn(Job& job, Planned planned, TxnRequestInfo request) {
  const bool paused = request.recovery ? job.stays_paused : job.state == engine::JobState::kPaused;
  engine::Coordinator::Setup setup;
  if (request.recovery) {
    setup.participants = NodesOf(job.layout.mesh(), request.recovery->lost);
    setup.paused_at = request.recovery->step;
  } else {
    setup.participants = NodesOf(job.layout.mesh());
    setup.pausing = setup.participants;
    if (paused) setup.paused_at = job.step;
  }
  setup.participants.merge(NodesOf(planned.to.mesh()));
  for (const std::int32_t number : setup.participants) {
    const Node* node = members_.Find(number);
    if (node && !Membership::IsSilent(*node)) continue;
    return FailedPrecondition(fmt::format("n{} is {}: a change of job '{}' needs it", number,
                                          node ? ToString(node->state) : "not there", job.name));
  }

  TESSERA_TRY(const std::int64_t id, NextNumber());
  // A slot may have been decided for a transaction that this registrar does not know any more.
  TESSERA_TRY(job.slot, FirstFreeSlot(job.name, job.slot));
  engine::HistoryEntry entry;
  entry.id = id;
  entry.job = job.name;
  entry.from = ToString(job.layout.mesh());
  entry.to = ToString(planned.to.mesh());
  entry.started = world_.wall_clock();
  entry.volume_bound = planned.summary.volume_bound;
  entry.epoch = job.epoch;
  entry.requester = std::move(request.requester);
  entry.from_options = planned.summary.from_options;
  entry.to_options = planned.summary.to_options;
  entry.kept = planned.summary.kept;
  entry.device = planned.summary.device;
  entry.host = planned.summary.host;
  entry.network = planned.summary.network;
  entry.pause_estimate = planned.summary.pause_estimate;
  if (const Status put = history_.PutTransaction(entry);
      !publisher_.NoteRecorded(put) && !request.unrecorded) {
    return ResourceExhausted("the transaction cannot be recorded: " + put.error().message);
  }
  txn_.emplace(std::move(planned), timers_.now());
  txn_->id = id;
  txn_->job = job.name;
  txn_->slot = job.slot;
  txn_->epoch = job.epoch + 1;
  const bool returns = request.recovery && request.recovery->steps_lost;
  txn_->timeline = job.timeline + (request.hand_in || returns ? 1 : 0);
  txn_->at_step = request.at_step;
  txn_->hand_in = std::move(request.hand_in);
  txn_->recovery = std::move(request.recovery);
  if (txn_->recovery) {
    txn_->paused_since = job.suspended_since;
    job.attempt = id;  // no rank of an earlier one is left
  }
  txn_->was_paused = paused;
  txn_->entry = std::move(entry);
  txn_->count = TransferCount(txn_->planned.summary.flows);
  WatchJoining(*txn_, job);
  txn_->run = MakeRun(engine::Coordinator(setup));
  const auto journal = [&]() -> Status {
    // Without these rows a restarted registrar would not know what the slot decides.
    TESSERA_RETURN_IF_ERROR(JournalJob(job));
    if (!request.request_id.empty()) {
      TESSERA_RETURN_IF_ERROR(journal_.Put(ActKey(request.request_id), std::to_string(id)));
    }
    TESSERA_RETURN_IF_ERROR(JournalTxn());
    // A disk that becomes full during the transaction must not keep it from being decided.
    return journal_.Reserve();
  };
  if (const Status kept = journal(); !kept) {
    engine::HistoryEntry refused = std::move(txn_->entry);
    txn_.reset();
    static_cast<void>(journal_.Erase(kTxnKey));
    refused.result = "rolled_back";
    refused.reason = "it cannot be journaled";
    publisher_.Record(refused);
    return Unavailable("the transaction cannot be journaled: " + kept.error().ToString());
  }
  if (!paused || txn_->recovery) job.state = engine::JobState::kReconfiguring;
  return OkStatus();
}

void Registrar::OnTxnRequest(const wire::TxnRequest& request, const ReplyPtr& reply) {
  wire::Reply out;
  auto* answer = out.mutable_txn();
  if (txn_ && (request.transaction() == 0 || request.transaction() == txn_->id)) {
    Encode(TxnStatusNow(), answer->mutable_transaction());
    return reply->Done(std::move(out));
  }
  const std::int64_t wanted =
      request.transaction() != 0 ? request.transaction() : (last_txn_ ? last_txn_->id : 0);
  engine::TransactionQuery query;
  if (wanted != 0) query.id = wanted;
  query.limit = 1;
  std::vector<engine::HistoryEntry> entries;
  if (const auto* kept = publisher_.FindKept(wanted)) {
    entries.push_back(*kept);
  } else {
    auto found = history_.Transactions(query);
    if (!found) return reply->Fail(found.error());
    entries = std::move(*found);
  }
  if (!entries.empty()) {
    const engine::HistoryEntry& entry = entries.front();
    Encode(entry, answer->mutable_record());
    if (last_txn_ && last_txn_->id == entry.id) Encode(*last_txn_, answer->mutable_transaction());
    return reply->Done(std::move(out));
  }
  reply->Fail(wanted == 0 ? NotFound("there has been no transaction yet")
                          : NotFound(fmt::format("transaction {} does not exist", wanted)));
}

void Registrar::OnCancel(const wire::CancelRequest& request, const ReplyPtr& reply) {
  if (!txn_ || (request.transaction() != 0 && request.transaction() != txn_->id)) {
    return reply->Fail(
        NotFound(request.transaction() == 0
                     ? std::string("no transaction is running")
                     : fmt::format("transaction {} is not running", request.transaction())));
  }
  if (!txn_->run->machine().can_cancel()) {
    return reply->Fail(FailedPrecondition(fmt::format(
        "transaction {} is {}: it can no longer be cancelled; apply the reverse change instead",
        txn_->id, ToString(txn_->run->phase()))));
  }
  wire::Reply out;
  out.mutable_cancel();
  reply->Done(std::move(out));
  txn_->cancelled = true;
  Feed(engine::CancelRequested{"cancelled by the operator"});
}

// ---- what nodes report

void Registrar::OnTxnReport(std::int32_t node, const wire::TxnReport& m) {
  const bool followed =
      m.kind() == wire::TxnReport::COMMITTED || m.kind() == wire::TxnReport::ABORTED;
  if (!txn_ || txn_->id != m.transaction()) {
    // The participant was disconnected when the others received Go.
    if (!followed) return;
    wire::ToNode go;
    go.mutable_go()->set_transaction(m.transaction());
    go.mutable_go()->set_stay_paused(IsPausedSince(m.transaction()));
    return static_cast<void>(SendTo(node, go));
  }
  const auto take = [&](const auto& rows, std::vector<DeviceDigests>& out) {
    for (const wire::CellDigests& row : rows) {
      const auto device = Decode(row.device());
      if (device) out.push_back({*device, {row.digests().begin(), row.digests().end()}});
    }
  };
  switch (m.kind()) {
    case wire::TxnReport::PREPARED:
      if (txn_->start_watch) txn_->start_watch->NodeReady(node);
      return Feed(engine::NodePrepared{node});
    case wire::TxnReport::REFUSED:
      return Feed(engine::NodeRefused{node, m.reason()});
    case wire::TxnReport::PAUSED:
      return Feed(engine::NodePaused{node, m.step()});
    case wire::TxnReport::TRANSFERRED:
      if (txn_->run->machine().waiting_for().contains(node)) {
        take(m.before(), txn_->before);
        take(m.after(), txn_->after);
        txn_->checksums_equal += m.checksums_equal();
      }
      return Feed(engine::NodeTransferred{node});
    case wire::TxnReport::TRANSFER_FAILED:
      return Feed(engine::NodeTransferFailed{node, m.reason()});
    case wire::TxnReport::VERIFIED:
      return Feed(engine::NodeVerified{node});
    case wire::TxnReport::COMMITTED:
    case wire::TxnReport::ABORTED:
      return Feed(engine::NodeFollowed{node});
    default:
      return;
  }
}

void Registrar::OnTxnProgress(std::int32_t node, const wire::TxnProgress& m) {
  if (!txn_ || txn_->id != m.transaction()) return;
  const auto now = timers_.now();
  const bool transferring = txn_->run->phase() == TxnPhase::kTransferring;
  const std::chrono::duration<double> elapsed = now - txn_->phase_began;
  txn_->count.Note(node, m, transferring ? elapsed.count() : 0);
  // Only the estimate of the remaining time is limited to the plan, the count is not.
  txn_->progress.Update(std::min(txn_->count.bytes(), txn_->progress.bytes_total()), now);
  MarkDirty();
}

void Registrar::FeedSilence() {
  if (!txn_) return;
  const std::set<std::int32_t> waiting = txn_->run->machine().waiting_for();
  for (const std::int32_t number : waiting) {
    const Node* node = members_.Find(number);
    if (node && Membership::IsSilent(*node))
      Feed(engine::NodeSilent{number, members_.SilentText(*node)});
  }
}

void Registrar::RepeatTxnRequests(Clock::time_point now) {
  if (!txn_ || !txn_->repeats.IsDue(now)) return;
  const std::set<std::int32_t> waiting = txn_->run->machine().waiting_for();
  for (const std::int32_t number : waiting) {
    const Node* const node = members_.Find(number);
    if (!txn_ || !node || node->state != engine::NodeState::kAlive) continue;
    // Prepare may be large, and takes long to carry out.
    const bool has_it = txn_->run->phase() == TxnPhase::kPreparing && node->transaction == txn_->id;
    if (!has_it) Feed(engine::NodeReconnected{number});
  }
}

bool Registrar::IsPausedSince(std::int64_t transaction) {
  std::string name;
  if (const auto* kept = publisher_.FindKept(transaction)) {
    name = kept->job;
  } else if (const auto found = history_.Transaction(transaction); found && *found) {
    name = (*found)->job;
  }
  const Job* job = FindJob(name);
  return job && job->state == engine::JobState::kPaused;
}

// ---- the machine and its actions

void Registrar::Feed(engine::CoordinatorEvent event) {
  if (txn_) txn_->run->Feed(std::move(event));
}

std::unique_ptr<TransactionRun> Registrar::MakeRun(engine::Coordinator machine) {
  TransactionRun::Terms terms;
  terms.id = txn_->id;
  terms.job = txn_->job;
  terms.slot = txn_->slot;
  terms.epoch = txn_->epoch;
  terms.layout_hash = ptc::Hex16(txn_->planned.plan.to_hash);
  if (txn_->hand_in) terms.step_after = txn_->hand_in->step;
  TransactionRun::World world;
  world.send = [this](const engine::CoordinatorAction& action) { return SendRequest(action); };
  world.compare = [this] { return CompareDigests(); };
  world.adopt = [this](const engine::Decision& decision) { AdoptDecision(decision); };
  world.phase_changed = [this](TxnPhase before) {
    OnPhaseChanged(before);
    world_.fault_point("registrar." + std::string(ToString(txn_->run->phase())));
  };
  world.finished = [this](bool committed, const std::string& reason) {
    FinishTxn(committed, reason);
  };
  world.after = [this](std::chrono::milliseconds delay, std::function<void()> then) {
    timers_.After(delay, std::move(then));
  };
  world.note = [this](engine::Severity severity, const std::string& text) {
    AddEvent(severity, fmt::format("txn {}", txn_->id), text);
  };
  return std::make_unique<TransactionRun>(std::move(terms), std::move(machine), register_,
                                          std::move(world));
}

void Registrar::OnPhaseChanged(TxnPhase before) {
  const auto now = timers_.now();
  const double seconds = std::chrono::duration<double>(now - txn_->phase_began).count();
  if (before != TxnPhase::kPlanned) txn_->entry.phases[std::string(ToString(before))] += seconds;
  txn_->phase_began = now;
  txn_->repeats = Repetition(now);
  const TxnPhase phase = txn_->run->phase();
  if (phase != TxnPhase::kPreparing) txn_->start_watch.reset();
  const std::string source = fmt::format("txn {}", txn_->id);
  if (phase == TxnPhase::kTransferring) {
    views_.OnTransfer(txn_->job);
    if (!txn_->recovery) txn_->paused_since = now;
    txn_->pause_deadline.reset();
    txn_->progress = engine::Progress(txn_->planned.plan.bytes.moved(), now);
    if (Job* job = FindJob(txn_->job)) job->step = *txn_->run->machine().step();
    // Ranks that leave know this step's report, those that join do not.
    FlushSamples();
    AddEvent(engine::Severity::kInfo, source,
             fmt::format("paused after step {}; transferring {}", *txn_->run->machine().step(),
                         engine::BytesText(txn_->planned.plan.bytes.moved())));
  } else if (phase == TxnPhase::kPausing) {
    const Job* job = FindJob(txn_->job);
    if (job) txn_->pause_deadline = now + PauseDeadline(*job, txn_->at_step);
    AddEvent(engine::Severity::kInfo, source, "prepared: all ranks started, groups connected");
  } else if (phase == TxnPhase::kRollingBack) {
    AddEvent(engine::Severity::kWarning, source, "rolling back: " + txn_->run->machine().reason());
  }
  MarkDirty();
  publisher_.PublishSnapshot(timers_.now());
}

Status Registrar::SendRequest(const engine::CoordinatorAction& action) {
  const std::int64_t id = txn_->id;
  wire::ToNode m;
  const std::int32_t node =
      std::visit(Overloaded{
                     [&](const engine::SendPrepare& a) {
                       m = PrepareMessage();
                       return a.node;
                     },
                     [&](const engine::SendPause& a) {
                       m.mutable_pause_txn()->set_transaction(id);
                       m.mutable_pause_txn()->set_at_step(txn_->at_step);
                       return a.node;
                     },
                     [&](const engine::SendTransfer& a) {
                       m.mutable_transfer()->set_transaction(id);
                       m.mutable_transfer()->set_step(a.step);
                       return a.node;
                     },
                     [&](const engine::SendVerify& a) {
                       m.mutable_verify()->set_transaction(id);
                       return a.node;
                     },
                     [&](const engine::SendOutcome& a) {
                       m.mutable_outcome()->set_transaction(id);
                       m.mutable_outcome()->set_value(ToText(*txn_->run->decision()));
                       return a.node;
                     },
                     [&](const engine::SendGo& a) {
                       m.mutable_go()->set_transaction(id);
                       m.mutable_go()->set_stay_paused(txn_->was_paused);
                       return a.node;
                     },
                     [&](const auto&) { return -1; },  // TransactionRun carries these out itself
                 },
                 action);
  const Status sent = SendTo(node, m);
  if (!sent) {
    world_.print(fmt::format("txn {}: {}", id, sent.error().ToString()));
  }
  return sent;
}

wire::ToNode Registrar::PrepareMessage() const {
  const Job& job = jobs_.at(txn_->job);
  wire::ToNode message;
  auto* p = message.mutable_prepare();
  p->set_transaction(txn_->id);
  p->set_attempt(txn_->id);
  p->set_slot(txn_->slot);
  p->set_job(txn_->job);
  p->set_epoch(txn_->epoch);
  p->set_settings(engine::ToJson(job.settings));
  p->set_from_layout(ptc::ToJson(job.layout));
  p->set_to_layout(ptc::ToJson(txn_->planned.to));
  p->set_from_hash(txn_->planned.plan.from_hash);
  p->set_to_hash(txn_->planned.plan.to_hash);
  p->set_plan_hash(txn_->planned.plan.hash);
  p->set_timeline(txn_->timeline);
  p->set_micro_batch(txn_->planned.summary.to_options.micro_batch);
  p->set_relay(txn_->planned.summary.relayed);
  *p->mutable_peers() = members_.peers();
  p->set_topology(txn_->planned.cluster);
  if (txn_->hand_in) *p->mutable_hand_in() = txn_->hand_in->source;
  if (txn_->recovery) {
    p->set_recovery(true);
    for (const ptc::DeviceId device : txn_->recovery->lost) Encode(device, p->add_lost());
    if (txn_->recovery->steps_lost) *p->mutable_snapshot() = txn_->recovery->snapshot;
  }
  return message;
}

// Compares the reports of all holders of all cells: replicas must be equal, before and after the
// transfer, and the transfer must not change a cell.
engine::DigestsCompared Registrar::CompareDigests() {
  const Job* job = FindJob(txn_->job);
  const std::vector<JobCell> cells =
      FindCells(job->layout, txn_->planned.to,
                txn_->recovery ? txn_->recovery->lost : std::vector<ptc::DeviceId>());
  const ptc::Collection& collection = job->layout.collection();
  if (txn_->recovery && txn_->recovery->steps_lost) {
    const auto after = CombineDigests(collection, cells, CellSide::kNeeders, txn_->after);
    if (!after) return {false, after.error().ToString()};
    txn_->entry.digest_before = txn_->recovery->digest;
    txn_->entry.digest_after = ptc::Hex16(after->digest);
    if (txn_->entry.digest_before != txn_->entry.digest_after) {
      return {false, fmt::format("the state has digest {}, the snapshot had {}",
                                 txn_->entry.digest_after, txn_->entry.digest_before)};
    }
  } else {
    const auto before = CombineDigests(collection, cells, CellSide::kHolders, txn_->before);
    if (!before) return {false, before.error().ToString()};
    const auto after = CombineDigests(collection, cells, CellSide::kNeeders, txn_->after);
    if (!after) return {false, after.error().ToString()};
    txn_->entry.digest_before = ptc::Hex16(before->digest);
    txn_->entry.digest_after = ptc::Hex16(after->digest);
    for (std::size_t i = 0; !txn_->hand_in && i < cells.size(); ++i) {
      if (before->cells[i] == after->cells[i]) continue;
      const auto& spec = collection.tensors()[static_cast<std::size_t>(cells[i].tensor)];
      return {false,
              fmt::format("tensor '{}' {}: digest {} became {}", spec.name, ToString(cells[i].box),
                          ptc::Hex16(before->cells[i]), ptc::Hex16(after->cells[i]))};
    }
  }
  // Recorded before the decision, so that a restarted registrar finds the digests.
  txn_->entry.bytes_moved = txn_->count.bytes();
  publisher_.Record(txn_->entry);
  return {true, {}};
}

void Registrar::AdoptDecision(const engine::Decision& decision) {
  world_.fault_point("registrar.decided");
  Job* job = FindJob(txn_->job);
  job->slot = txn_->slot + 1;
  txn_->entry.step = decision.commit ? decision.step : job->step;
  if (decision.commit) {
    job->layout = txn_->planned.to;
    job->options = txn_->planned.summary.to_options;
    job->epoch = txn_->epoch;
    if (txn_->timeline != job->timeline) RestartStepCountAt(*job, decision.step);
    job->timeline = txn_->timeline;
    job->step = decision.step;
    job->paused_nodes.clear();
    job->usual_step_seconds = UsualStepSeconds(*job);
    job->step_seconds.clear();
  }
  // If this fails, the row of the transaction stays, from which a restarted registrar adopts again.
  static_cast<void>(JournalJob(*job));
}

void Registrar::FinishTxn(bool committed, const std::string& reason) {
  const auto now = timers_.now();
  Job* job = FindJob(txn_->job);
  if (txn_->paused_since) {
    txn_->pause = std::chrono::duration<double>(now - *txn_->paused_since).count();
    txn_->paused_since.reset();
  }
  engine::HistoryEntry& entry = txn_->entry;
  entry.result = committed ? "committed" : "rolled_back";
  entry.reason = reason;
  if (committed && txn_->hand_in) {
    entry.reason = fmt::format("state of step {} was handed in", txn_->hand_in->step);
  } else if (committed && txn_->recovery) {
    entry.reason =
        fmt::format("{}: {}",
                    ToString(txn_->recovery->steps_lost ? engine::LossCase::kSnapshot
                                                        : engine::LossCase::kReplicasLive),
                    CostOf(*txn_->recovery));
  }
  entry.pause = txn_->pause;
  entry.epoch = job->epoch;
  entry.flows = txn_->count.flows();
  if (entry.bytes_moved == 0) entry.bytes_moved = txn_->count.bytes();
  publisher_.Record(entry);
  last_txn_ = TxnStatusNow();
  last_txn_->reason = reason;
  rendezvous_.Forget(txn_->job, txn_->epoch, txn_->id);
  job->state = txn_->was_paused ? engine::JobState::kPaused : engine::JobState::kRunning;
  job->last_step = now;
  if (txn_->recovery) FinishRecovery(*job, committed, reason);
  if (JournalJob(*job)) static_cast<void>(journal_.Erase(kTxnKey));
  const std::string source = fmt::format("txn {}", txn_->id);
  if (committed) {
    AddEvent(
        engine::Severity::kInfo, source,
        fmt::format("epoch {} committed, digests equal, pause {:.2f} s", job->epoch, entry.pause));
  } else {
    AddEvent(engine::Severity::kWarning, source,
             fmt::format("rolled back: {}; {}", reason,
                         job->state == engine::JobState::kSuspended
                             ? "what is left of the state is unchanged"
                             : "the old layout is whole"));
  }
  std::string fail;
  for (const auto& [device, why] : txn_->lost_ranks) {
    if (job->state == engine::JobState::kSuspended) break;
    if (job->layout.mesh().RankOf(device)) fail = why;  // others have left, or never joined
  }
  txn_.reset();
  MarkPausedIfAllStopped(
      *job);  // ranks of the new layout may have paused while the transaction ended
  MarkDirty();
  publisher_.PublishSnapshot(timers_.now());
  if (!fail.empty()) InterruptJob(*job, fail);
}

// ---- restart

Status Registrar::JournalTxn() {
  TxnRow row{txn_->id,         txn_->job,        txn_->slot,
             txn_->epoch,      txn_->planned.to, txn_->planned.summary.to_options,
             txn_->was_paused, txn_->timeline,   txn_->entry.started};
  if (txn_->recovery) {
    row.recovery = {txn_->recovery->lost, txn_->recovery->reason, txn_->recovery->step,
                    txn_->recovery->steps_lost};
  }
  return journal_.Put(kTxnKey, ToText(row));
}

Result<std::optional<engine::Decision>> Registrar::DecisionOf(const std::string& job,
                                                              std::int64_t slot,
                                                              std::int64_t transaction) {
  TESSERA_TRY(std::optional<engine::Decision> held, register_.Read(job, slot));
  const bool runs = txn_ && txn_->job == job && txn_->slot == slot;
  if (held || runs) return held;
  TESSERA_TRY(engine::Decision decided, register_.Write(job, slot, engine::AbortOf(transaction)));
  return std::optional<engine::Decision>(std::move(decided));
}

void Registrar::SendPastOutcome(std::int32_t node, const wire::Register& m) {
  const auto held = DecisionOf(m.transaction_job(), m.transaction_slot(), m.transaction());
  if (!held || !*held) return;  // the node asks again
  wire::ToNode outcome;
  outcome.mutable_outcome()->set_transaction(m.transaction());
  outcome.mutable_outcome()->set_value(ToText(**held));
  static_cast<void>(SendTo(node, outcome));
}

// A restarted coordinator writes `abort` to the register and follows the decision that the register
// then holds.
Status Registrar::RecoverTxn() {
  TESSERA_TRY(const std::optional<std::string> text, journal_.Get(kTxnKey));
  if (!text) return OkStatus();
  TESSERA_TRY(TxnRow row, ParseTxnRow(*text));
  Job* job = FindJob(row.job);
  if (!job) return journal_.Erase(kTxnKey);

  TESSERA_TRY(const auto known, history_.Transaction(row.id));
  engine::HistoryEntry entry = known.value_or(engine::HistoryEntry{});
  if (!known) {  // the history was damaged and replaced by an empty one
    entry.id = row.id;
    entry.job = job->name;
    entry.from = ToString(job->layout.mesh());
    entry.to = ToString(row.to.mesh());
    entry.started = row.started;
  }
  TESSERA_TRY(ptc::DeviceMesh old_mesh, ptc::ParseDeviceMesh(entry.from));
  engine::Coordinator::Setup setup;
  if (row.recovery) {
    setup.participants = NodesOf(old_mesh, row.recovery->lost);
  } else {
    setup.participants = NodesOf(old_mesh);
    setup.pausing = setup.participants;
  }
  setup.participants.merge(NodesOf(row.to.mesh()));

  engine::PlanSummary summary;
  summary.from_mesh = old_mesh.shape();
  summary.from_devices = old_mesh.devices();
  summary.to_mesh = row.to.mesh().shape();
  summary.to_devices = row.to.mesh().devices();
  summary.from_options = entry.from_options;
  summary.to_options = row.options;
  ptc::Plan plan;
  plan.to_hash = row.to.hash();
  txn_.emplace(Planned{std::move(row.to), std::move(plan), std::move(summary)}, timers_.now());
  txn_->id = row.id;
  txn_->job = job->name;
  txn_->slot = row.slot;
  txn_->epoch = row.epoch;
  txn_->timeline = row.timeline < 0 ? job->timeline : row.timeline;
  txn_->was_paused = row.was_paused;
  if (row.recovery) {
    txn_->recovery = {std::move(row.recovery->lost), row.recovery->step,
                      std::move(row.recovery->reason), row.recovery->steps_lost};
    job->stays_paused = row.was_paused;
  }
  txn_->entry = std::move(entry);
  // The start of the pause follows from the record, if that was written before the restart.
  if (const auto& phases = txn_->entry.phases; phases.contains("transferring")) {
    double began = txn_->entry.started;
    for (const char* phase : {"preparing", "pausing"}) {
      if (const auto it = phases.find(phase); it != phases.end()) began += it->second;
    }
    const auto paused_for =
        std::chrono::duration<double>(std::max(0.0, world_.wall_clock() - began));
    txn_->paused_since = timers_.now() - std::chrono::duration_cast<Clock::duration>(paused_for);
  }
  job->state = row.was_paused && !txn_->recovery ? engine::JobState::kPaused
                                                 : engine::JobState::kReconfiguring;
  AddEvent(engine::Severity::kWarning, fmt::format("txn {}", row.id),
           "the registrar's agent restarted: reading the outcome from the register");
  for (const std::int32_t node : setup.participants) members_.Expect(node, timers_.now());
  txn_->run = MakeRun(engine::Coordinator::Recovered(setup));
  txn_->run->Recover();
  return OkStatus();
}

}  // namespace tessera::agents
