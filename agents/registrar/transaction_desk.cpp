// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/transaction_desk.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "agents/registrar/compute.h"
#include "agents/wire/convert.h"
#include "engine/search/fit.h"

namespace tessera::agents {
namespace {

std::string Describe(const ptc::MeshShape& shape, const engine::StepOptions& options) {
  const std::string more = ToString(options);
  return fmt::format("{}×{}×{}{}", shape[ptc::Axis::kDp], shape[ptc::Axis::kTp],
                     shape[ptc::Axis::kPp], more.empty() ? "" : " " + more);
}

/// "state after step 120 of checkpoint '/c/a-step-120'".
std::string DescribeState(const StoredState& state) {
  const std::string what =
      state.parameters_only ? "parameters" : fmt::format("state after step {}", state.step);
  return fmt::format("{} of checkpoint '{}'", what, state.path);
}

engine::ChangeKind ChangeKindOf(const TxnOrigin& origin) {
  using engine::ChangeKind;
  if (origin.hand_in) return origin.hand_in->checkpoint ? ChangeKind::kLoad : ChangeKind::kHandIn;
  if (!origin.recovery) return ChangeKind::kReconfigure;
  if (origin.recovery->begins) return ChangeKind::kBegin;
  // Else a suspended job is reconfigured whose state is whole.
  const bool has_lost = !origin.recovery->lost.empty() || origin.recovery->steps_lost;
  return has_lost ? ChangeKind::kRecover : ChangeKind::kReconfigure;
}

Error NoRoom(const Error& error) {
  return Unavailable("the transaction cannot be journaled: " + error.ToString() +
                     (error.code == ErrorCode::kResourceExhausted
                          ? "; the disk is full: free space there, --unrecorded is about the "
                            "history only"
                          : ""));
}

}  // namespace

bool TransactionDesk::AnswerFromAct(const std::string& request_id, const AnswerAct& answer) {
  const std::optional<std::int64_t> begun = acts_.Find(request_id);
  if (begun) answer(*begun);
  return begun.has_value();
}

void TransactionDesk::OnApply(const std::string& request_id, const wire::ApplyRequest& request,
                              const ReplyPtr& reply) {
  const auto answered = [&](std::int64_t id) {
    wire::Reply out;
    out.mutable_apply()->set_transaction(id);
    reply->Done(std::move(out));
  };
  if (AnswerFromAct(request_id, answered)) return;
  const Result<Job*> found = jobs_.Need(request.plan().job());
  if (!found) return reply->Fail(found.error());
  Job& job = **found;
  if (const Status can = CheckCanReconfigure(job); !can) return reply->Fail(can.error());
  uses_.plans.Compute(
      job, request.plan(), [this, request_id, request, reply](Result<Planned> planned) {
        const Status begun = planned ? BeginApply(request_id, request, std::move(*planned), reply)
                                     : Status(planned.error());
        if (!begun) reply->Fail(begun.error());
      });
}

Status TransactionDesk::CheckCanApply(const Job& job) const {
  TESSERA_RETURN_IF_ERROR(around_.check_free());
  return CheckPausedOrRunning(job);
}

// A program that fails on one mesh may run on another, and its state is whole.
Status TransactionDesk::CheckCanReconfigure(const Job& job) const {
  if (!around_.rests_at(job)) return CheckCanApply(job);
  return around_.check_free();
}

// The cluster may have changed while the plan was made.
Status TransactionDesk::BeginApply(const std::string& request_id, const wire::ApplyRequest& request,
                                   Planned planned, const ReplyPtr& reply) {
  TESSERA_TRY(Job* const found, jobs_.Need(request.plan().job()));
  Job& job = *found;
  TESSERA_RETURN_IF_ERROR(CheckCanReconfigure(job));
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
  if (request.verify_full() && !planned.rounds.empty()) {
    return InvalidArgument(
        "--verify full reads old and new state side by side, which --move-memory does not have");
  }
  const std::optional<std::int64_t> rests_at = around_.rests_at(job);
  const bool paused = job.state == engine::JobState::kPaused || rests_at;
  if (request.at_step() > 0 && (paused || request.at_step() <= job.step)) {
    return FailedPrecondition(fmt::format("--at-step {} is not ahead: job '{}' is {} after step {}",
                                          request.at_step(), job.name, ToString(job.state),
                                          job.step));
  }
  TxnOrigin origin{.request_id = request_id,
                   .requester = reply->requester(),
                   .at_step = request.at_step(),
                   .unrecorded = request.unrecorded(),
                   .verify_full = request.verify_full()};
  if (rests_at) {
    job.step = std::max(job.step, *rests_at);
    uses_.steps.RecordDecided(job, *rests_at);
    origin.recovery = Recovery{{}, *rests_at, job.reason};
  }
  TESSERA_RETURN_IF_ERROR(Begin(job, std::move(planned), std::move(origin)));
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
  Go();
  return OkStatus();
}

Status TransactionDesk::Begin(Job& job, Planned planned, TxnOrigin origin) {
  // The state that a node holds at a later epoch would be overwritten.
  TESSERA_RETURN_IF_ERROR(jobs_.CheckExplained(job.name));
  const bool paused = origin.recovery ? job.stays_paused : job.state == engine::JobState::kPaused;
  engine::Coordinator::Setup setup;
  if (origin.recovery) {
    setup.participants =
        NodesOf(planned.from ? planned.from->where.devices() : job.layout.mesh().devices(),
                origin.recovery->lost);
    setup.paused_at = origin.recovery->step;
  } else {
    setup.participants = NodesOf(job.layout.mesh());
    setup.pausing = setup.participants;
    if (paused) setup.paused_at = job.step;
    setup.precopies =
        planned.summary.overlap.chosen && !paused && !origin.hand_in && !origin.verify_full;
  }
  setup.legs = std::max(1, static_cast<int>(planned.legs.size()));
  setup.rounds = static_cast<int>(planned.rounds.size());
  setup.participants.merge(NodesOf(planned.to.mesh()));
  const bool reads_all =
      origin.verify_full || origin.hand_in || (origin.recovery && origin.recovery->steps_lost);
  if (!reads_all) setup.digesting = NodesOf(planned.to.mesh());
  for (const std::int32_t number : setup.participants) {
    TESSERA_RETURN_IF_ERROR(jobs_.CheckNode(number, job.name));
    const Membership::Node* node = members_.Find(number);
    if (node && !Membership::IsSilent(*node)) continue;
    return FailedPrecondition(fmt::format("n{} is {}: a change of job '{}' needs it", number,
                                          node ? ToString(node->state) : "not there", job.name));
  }

  EraseLeftRow();
  if (left_row_) {  // the new row would take its place
    return Unavailable(
        "the transaction cannot be journaled: the end of the last one is not in the journal yet");
  }
  // Asked for before the history, because nothing helps against this but room.
  if (const Status room = journal_.Reserve(); !room) return NoRoom(room.error());
  TESSERA_TRY(const std::int64_t id, uses_.numbers.Next());
  for (const std::int32_t number : setup.participants) {
    const std::int64_t other = members_.Find(number)->transaction;
    if (other < id) continue;
    // It would take a message about the new transaction for one about its own.
    return FailedPrecondition(
        fmt::format("n{} takes part in transaction {}, of which this registrar knows nothing: "
                    "`tesseractl registrar rebuild`",
                    number, other));
  }
  engine::HistoryEntry entry;
  entry.id = id;
  entry.job = job.name;
  entry.origin = static_cast<std::int64_t>(job.start);
  entry.from = ToString(job.layout.mesh());
  entry.to = ToString(planned.to.mesh());
  entry.started = world_.wall_clock();
  entry.volume_bound = planned.summary.volume_bound;
  entry.epoch = job.epoch;
  entry.kind = ChangeKindOf(origin);
  entry.requester = std::move(origin.requester);
  entry.from_options = planned.summary.from_options;
  entry.to_options = planned.summary.to_options;
  entry.kept = planned.summary.kept;
  entry.device = planned.summary.device;
  entry.host = planned.summary.host;
  entry.network = planned.summary.network;
  entry.pause_estimate = planned.summary.pause_estimate;
  entry.in_rounds = planned.summary.in_rounds;
  if (setup.precopies) {
    entry.gradients_planned =
        planned.summary.overlap.gradient_bytes + planned.summary.overlap.follow_bytes;
  }
  if (const Status put = world_.history.PutTransaction(entry);
      !publisher_.NoteRecorded(put) && !origin.unrecorded) {
    return ResourceExhausted("the transaction cannot be recorded: " + put.error().message +
                             "; --unrecorded allows it");
  }
  world_.fault_point("registrar.recorded");
  txn_.emplace(std::move(planned), timers_.now());
  txn_->id = id;
  txn_->job = job.name;
  txn_->slot = job.slot;
  // Each round is an epoch of the arenas.
  txn_->epoch = job.epoch + std::max(1, setup.rounds);
  const bool returns = origin.recovery && origin.recovery->steps_lost;
  txn_->timeline = job.timeline + (origin.hand_in || returns ? 1 : 0);
  txn_->at_step = origin.at_step;
  txn_->hand_in = std::move(origin.hand_in);
  txn_->recovery = std::move(origin.recovery);
  if (txn_->recovery) {
    txn_->paused_since = job.suspended_since;
    job.attempt = id;  // no rank of an earlier one is left
  }
  txn_->from = job.layout;
  if (setup.rounds > 0) {
    const Remains whole{ptc::MixedLayout(job.layout), job.layout.hash()};
    txn_->before = txn_->planned.from.value_or(whole);
  }
  txn_->verify_full = origin.verify_full;
  txn_->was_paused = paused;
  txn_->entry = std::move(entry);
  txn_->count = TransferCount(txn_->planned.summary.flows);
  WatchJoining(job);
  txn_->run = MakeRun(engine::Coordinator(setup));
  const auto journal = [&]() -> Status {
    // Without these rows a restarted registrar would not know what the slot decides. With only
    // some of them it would name a transaction that nobody carries out.
    std::vector<engine::RowChange> rows = acts_.RowsFor(origin.request_id, id);
    rows.push_back(Row());
    TESSERA_RETURN_IF_ERROR(jobs_.Journal(job, std::move(rows)));
    // A disk that becomes full during the transaction must not keep it from being decided.
    return journal_.Reserve();
  };
  if (const Status kept = journal(); !kept) {
    engine::HistoryEntry refused = std::move(txn_->entry);
    txn_.reset();
    left_row_ = job.name;  // which may be there
    EraseLeftRow();
    refused.result = "rolled_back";
    refused.reason = "it cannot be journaled";
    publisher_.Record(refused);
    return NoRoom(kept.error());
  }
  world_.fault_point("registrar.journaled");
  if (!paused || txn_->recovery) job.state = engine::JobState::kReconfiguring;
  return OkStatus();
}

void TransactionDesk::OnHandIn(const std::string& request_id, const wire::HandInRequest& request,
                               const ReplyPtr& reply) {
  const auto answer = [&](std::int64_t id) {
    wire::Reply out;
    out.mutable_hand_in()->set_transaction(id);
    reply->Done(std::move(out));
  };
  if (!request.refused().empty()) {
    AddEvent(engine::Severity::kWarning, request.job(),
             fmt::format("hand-in refused: {}{}", request.refused(), reply->RequesterText()));
    return answer(0);
  }
  if (AnswerFromAct(request_id, answer)) return;
  const Result<Job*> job = jobs_.Need(request.job());
  if (!job) return reply->Fail(job.error());
  const auto refuse = [this, name = request.job(), reply](const Error& error) {
    AddEvent(engine::Severity::kWarning, name,
             fmt::format("hand-in refused: {}{}", error.ToString(), reply->RequesterText()));
    reply->Fail(error);
  };
  if (const Status can = CheckCanHandIn(**job, request); !can) return refuse(can.error());
  uses_.plans.ComputeHandIn(
      **job, [this, request_id, request, reply, refuse](Result<Planned> planned) {
        const Status begun = planned ? BeginHandIn(request_id, request, std::move(*planned), reply)
                                     : Status(planned.error());
        if (!begun) refuse(begun.error());
      });
}

Status TransactionDesk::CheckCanHandIn(const Job& job, const wire::HandInRequest& request) const {
  TESSERA_RETURN_IF_ERROR(CheckCanApply(job));
  return uses_.plans.CheckHandIn(job, request);
}

// The cluster may have changed while the plan was made.
Status TransactionDesk::BeginHandIn(const std::string& request_id,
                                    const wire::HandInRequest& request, Planned planned,
                                    const ReplyPtr& reply) {
  TESSERA_TRY(Job* const job, jobs_.Need(request.job()));
  TESSERA_RETURN_IF_ERROR(CheckCanHandIn(*job, request));
  HandIn hand_in{request.step(), {}};
  hand_in.source.set_hand_in(request.hand_in());
  *hand_in.source.mutable_lanes() = request.lanes();
  hand_in.source.set_public_key(request.public_key());
  TESSERA_RETURN_IF_ERROR(Begin(
      *job, std::move(planned),
      {.request_id = request_id, .requester = reply->requester(), .hand_in = std::move(hand_in)}));
  AddEvent(
      engine::Severity::kInfo, fmt::format("txn {}", txn_->id),
      fmt::format("{} takes over the handed-in state of step {}, {}{}", job->name, request.step(),
                  engine::BytesText(txn_->planned.plan.bytes.storage), reply->RequesterText()));
  wire::Reply out;
  out.mutable_hand_in()->set_transaction(txn_->id);
  reply->Done(std::move(out));
  Go();
  return OkStatus();
}

Status TransactionDesk::CheckCanLoad(const Job& job, const StoredState& state) const {
  TESSERA_RETURN_IF_ERROR(CheckCanApply(job));
  return uses_.plans.CheckReplace(job, state.step);
}

// The cluster may change while the plan is made.
void TransactionDesk::Load(const std::string& request_id, const std::string& name,
                           StoredState state, const ReplyPtr& reply) {
  const auto answer = [&](std::int64_t id) {
    wire::Reply out;
    out.mutable_load_checkpoint()->set_transaction(id);
    reply->Done(std::move(out));
  };
  if (AnswerFromAct(request_id, answer)) return;
  const Result<Job*> job = jobs_.Need(name);
  if (!job) return reply->Fail(job.error());
  if (const Status can = CheckCanLoad(**job, state); !can) return reply->Fail(can.error());
  uses_.plans.ComputeHandIn(**job, [this, request_id, name, state = std::move(state),
                                    reply](Result<Planned> planned) mutable {
    const Result<Job*> now = jobs_.Need(name);
    Status begun = planned ? OkStatus() : Status(planned.error());
    if (begun && !now) begun = now.error();
    if (begun) begun = CheckCanLoad(**now, state);
    if (begun) begun = BeginLoad(request_id, **now, std::move(state), std::move(*planned), reply);
    if (!begun) reply->Fail(begun.error());
  });
}

Status TransactionDesk::BeginLoad(const std::string& request_id, Job& job, StoredState state,
                                  Planned planned, const ReplyPtr& reply) {
  if (planned.to.hash() != job.layout.hash()) {
    return FailedPrecondition(
        fmt::format("job '{}' has changed while the plan was made: try again", job.name));
  }
  const std::string text = fmt::format("{} takes over the {}, {}", job.name, DescribeState(state),
                                       engine::BytesText(planned.plan.bytes.storage));
  HandIn hand_in{state.step, {}, std::move(state)};
  TESSERA_RETURN_IF_ERROR(Begin(
      job, std::move(planned),
      {.request_id = request_id, .requester = reply->requester(), .hand_in = std::move(hand_in)}));
  AddEvent(engine::Severity::kInfo, fmt::format("txn {}", txn_->id), text + reply->RequesterText());
  wire::Reply out;
  out.mutable_load_checkpoint()->set_transaction(txn_->id);
  reply->Done(std::move(out));
  Go();
  return OkStatus();
}

// All of its devices count as lost, so everything is read. The layout is that of the job.
void TransactionDesk::BeginFrom(const Job& job, StoredState state) {
  wire::PlanRequest request;
  Encode(job.layout.mesh().shape(), request.mutable_mesh());
  Encode(job.options, request.mutable_options());
  request.set_pin(true);
  std::vector<ptc::DeviceId> devices = job.layout.mesh().devices();
  ComputeWith(
      world_,
      [basis = uses_.plans.BasisOf(job), request, devices] {
        return PlanChange(basis, request, devices, devices);
      },
      [this, name = job.name, start = job.start, devices,
       state = std::move(state)](Result<Planned> planned) {
        Job* const now = jobs_.Find(name);
        if (!now || now->start != start || !now->starting) return;  // it was stopped
        const auto begin = [&]() -> Status {
          if (!planned) return planned.error();
          TESSERA_RETURN_IF_ERROR(around_.check_free());
          TxnOrigin origin;
          origin.requester = now->starting->requester();
          origin.recovery = Recovery{devices, state.step, "it begins with that state", 0};
          origin.recovery->checkpoint = state;
          origin.recovery->begins = true;
          return Begin(*now, std::move(*planned), std::move(origin));
        };
        if (const Status begun = begin(); !begun) {
          return around_.interrupt(*now, begun.error().message, RankEnd::kCrash);
        }
        AddEvent(engine::Severity::kInfo, fmt::format("txn {}", txn_->id),
                 fmt::format("{} begins with the {}, {}", name, DescribeState(*txn_->checkpoint()),
                             engine::BytesText(txn_->planned.plan.bytes.storage)));
        Go();
      });
}

void TransactionDesk::WatchJoining(const Job& job) {
  const auto now = timers_.now();
  const std::vector<ptc::DeviceId>& devices = txn_->planned.to.mesh().devices();
  txn_->start_watch.emplace(devices, now);
  // The staying ranks have their data open, so they are not the ones that stall.
  for (const ptc::DeviceId device : devices) {
    if (job.layout.mesh().RankOf(device)) txn_->start_watch->Note(device, {1, 1}, now);
  }
}

void TransactionDesk::OnTxnRequest(const wire::TxnRequest& request, const ReplyPtr& reply) {
  wire::Reply out;
  auto* answer = out.mutable_txn();
  if (txn_ && (request.transaction() == 0 || request.transaction() == txn_->id)) {
    Encode(StatusOf(*txn_, timers_.now()), answer->mutable_transaction());
    return reply->Done(std::move(out));
  }
  const std::int64_t wanted =
      request.transaction() != 0 ? request.transaction() : (last_ ? last_->id : 0);
  engine::TransactionQuery query;
  if (wanted != 0) query.id = wanted;
  query.limit = 1;
  std::vector<engine::HistoryEntry> entries;
  if (const auto* kept = publisher_.FindKept(wanted)) {
    entries.push_back(*kept);
  } else {
    auto found = world_.history.Transactions(query);
    if (!found) return reply->Fail(found.error());
    entries = std::move(*found);
  }
  if (!entries.empty()) {
    const engine::HistoryEntry& entry = entries.front();
    if (entry.result.empty()) {
      return reply->Fail(Unavailable(fmt::format(
          "transaction {} does not run, and its outcome is not read yet: try again", entry.id)));
    }
    Encode(entry, answer->mutable_record());
    if (last_ && last_->id == entry.id) Encode(*last_, answer->mutable_transaction());
    return reply->Done(std::move(out));
  }
  reply->Fail(wanted == 0 ? NotFound("there has been no transaction yet")
                          : NotFound(fmt::format("transaction {} does not exist", wanted)));
}

Status TransactionDesk::CheckRuns(std::int64_t id) const {
  if (txn_ && (id == 0 || id == txn_->id)) return OkStatus();
  return NotFound(id == 0 ? std::string("no transaction is running")
                          : fmt::format("transaction {} is not running", id));
}

void TransactionDesk::OnThrottle(const wire::ThrottleRequest& request, const ReplyPtr& reply) {
  if (const Status runs = CheckRuns(request.transaction()); !runs) return reply->Fail(runs.error());
  const std::int64_t rate = request.bytes_per_second();
  if (rate != 0 && rate < engine::kLeastThrottle) {
    return reply->Fail(InvalidArgument(fmt::format("a limit of {} is below the lowest one, {}",
                                                   engine::RateText(static_cast<double>(rate)),
                                                   engine::RateText(engine::kLeastThrottle))));
  }
  const engine::TxnPhase phase = txn_->run->phase();
  if (phase > engine::TxnPhase::kTransferring) {
    return reply->Fail(FailedPrecondition(
        fmt::format("transaction {} is {}: nothing is left to move", txn_->id, ToString(phase))));
  }
  txn_->throttle = rate;
  wire::ToNode message;
  message.mutable_throttle()->set_transaction(txn_->id);
  message.mutable_throttle()->set_bytes_per_second(rate);
  // Nodes that get Transfer later find the limit in it.
  if (phase == engine::TxnPhase::kTransferring || phase == engine::TxnPhase::kPrecopying) {
    for (const std::int32_t node : txn_->run->machine().participants()) {
      static_cast<void>(SendTo(node, message));
    }
  }
  AddEvent(engine::Severity::kInfo, fmt::format("txn {}", txn_->id),
           (rate == 0 ? std::string("no limit for transfers")
                      : fmt::format("transfers limited to {} per node",
                                    engine::RateText(static_cast<double>(rate)))) +
               reply->RequesterText());
  wire::Reply out;
  out.mutable_throttle()->set_transaction(txn_->id);
  reply->Done(std::move(out));
  MarkDirty();
}

Status TransactionDesk::CheckCancel(std::int64_t id) const {
  const bool is_over = !txn_ && last_ && id == last_->id;  // a user who was a moment too late
  if (!is_over) TESSERA_RETURN_IF_ERROR(CheckRuns(id));
  if (!is_over && txn_->run->machine().can_cancel()) return OkStatus();
  const engine::TxnPhase phase = is_over ? last_->phase : txn_->run->phase();
  const bool is_committed =
      phase == engine::TxnPhase::kResuming || phase == engine::TxnPhase::kDone;
  if (is_over && !is_committed) return CheckRuns(id);
  return FailedPrecondition(fmt::format(
      "transaction {} is {}: it can no longer be cancelled; apply the reverse change instead",
      is_over ? last_->id : txn_->id, is_committed ? "already committed" : ToString(phase)));
}

void TransactionDesk::OnCancel(const wire::CancelRequest& request, const ReplyPtr& reply) {
  if (const Status may = CheckCancel(request.transaction()); !may) return reply->Fail(may.error());
  wire::Reply out;
  out.mutable_cancel()->set_transaction(txn_->id);
  reply->Done(std::move(out));
  txn_->cancelled = true;
  Feed(engine::CancelRequested{"cancelled by the operator"});
}

}  // namespace tessera::agents
