// SPDX-License-Identifier: Apache-2.0
// The start of the agent, and what it says to the registrar.
#include "agents/node/node_agent.h"

#include <fmt/format.h>

#include <utility>

#include "agents/wire/convert.h"
#include "agents/wire/utf8.h"

namespace tessera::agents {
namespace {
constexpr auto kHeartbeat = std::chrono::seconds(1);
constexpr auto kProgressPeriod = std::chrono::milliseconds(100);
}  // namespace

NodeAgent::NodeAgent(Timers& timers, const AgentConfig& config, NodeWorld world)
    : timers_(timers),
      config_(config),
      world_(std::move(world)),
      journal_(*world_.journal),
      last_message_(timers.now()) {}

NodeAgent::~NodeAgent() = default;

Status NodeAgent::Recover(KeeperLink& keeper, NodeViews& views) {
  keeper_ = &keeper;
  views_ = &views;
  TESSERA_RETURN_IF_ERROR(ForgetOtherKeepers());
  TESSERA_RETURN_IF_ERROR(RecoverDevices());
  TESSERA_RETURN_IF_ERROR(views_->Recover());
  TESSERA_RETURN_IF_ERROR(RecoverRanks());
  return RecoverTxn();
}

void NodeAgent::Start(RankLinks& ranks, std::vector<std::string> lanes) {
  links_ = &ranks;
  lanes_ = std::move(lanes);
  for (auto& [id, rank] : ranks_.ranks()) {
    if (HasLeft(id)) ranks_.Retire(rank);
  }
  timers_.Every(kHeartbeat, [this] { Beat(); });
  timers_.Every(kProgressPeriod, [this] { SendProgress(); });
  SendRegister();
}

// Erases the journal if the keeper is a new one, because the memory of the old keeper is gone.
Status NodeAgent::ForgetOtherKeepers() {
  const std::string& keeper = world_.facts.keeper;
  TESSERA_TRY(const std::optional<std::string> known, journal_.Get("keeper"));
  if (known == keeper) return OkStatus();
  TESSERA_TRY(const auto rows, journal_.List(""));
  for (const auto& [key, value] : rows) TESSERA_RETURN_IF_ERROR(journal_.Erase(key));
  return journal_.Put("keeper", keeper);
}

Status NodeAgent::RecoverDevices() {
  TESSERA_TRY(store_, DeviceStore::Open(config_.node, keeper_->arenas()));
  for (auto& [id, device] : store_->devices()) {
    TESSERA_TRY(const std::optional<std::string> failed,
                journal_.Get(fmt::format("failed/{}", id.index)));
    device.failed = failed.has_value();
    // The agent before may have died while it held updates for a view.
    device.arena->header().hold.store(0);
  }
  return OkStatus();
}

// ---- registrar

// Register gives the registrar the state of this node, and the registrar repeats what is still
// valid.
void NodeAgent::OnReconnected() { SendRegister(); }

void NodeAgent::Beat() {
  if (welcomed_) {
    SendHeartbeat();
    SendExits();
    if (txn_) txn_->part->RepeatFollowed();
    if (txn_ && txn_->flipped && !txn_->part->followed()) CheckAdopted();
    FailRanksThatHang();
    RepeatReports();
  } else {
    SendRegister();
  }
  AskAfterSilence();
}

void NodeAgent::Send(wire::FromNode message) {
  message.set_node(config_.node);
  message.set_incarnation(world_.facts.incarnation);
  // A message that cannot be sent now is repeated: state by Register, outcomes on request.
  world_.send(message);
}

void NodeAgent::FillDevices(google::protobuf::RepeatedPtrField<wire::NodeDevice>* out) const {
  for (const auto& [id, device] : store_->devices()) {
    auto* row = out->Add();
    row->set_index(id.index);
    row->set_capacity(device.arena->capacity());
    row->set_failed(device.failed);
    row->set_arena_path(device.path);
    if (!device.table) continue;
    row->set_used(device.table->used_bytes());
    row->set_job(device.table->job());
    row->set_epoch(device.table->epoch());
    const engine::ArenaHeader& header = device.arena->header();
    row->set_end(static_cast<std::int64_t>(header.end.load()));
    row->set_begin(static_cast<std::int64_t>(header.begin.load()));
    row->set_grads_step(static_cast<std::int64_t>(header.grads_step.load()));
    row->mutable_decision()->set_step(static_cast<std::int64_t>(header.decision_step.load()));
    row->mutable_decision()->set_clip(header.decision_clip.load());
    row->mutable_decision()->set_skip(header.decision_skip.load() != 0);
    row->mutable_decision()->set_loss(header.decision_loss.load());
    row->mutable_decision()->set_norm2(header.decision_norm2.load());
    row->mutable_decision()->set_tokens(static_cast<std::int64_t>(header.decision_tokens.load()));
    const RankTable::Rank* rank = ranks_.Find({device.table->job(), id});
    row->set_has_rank(rank != nullptr);
    if (rank) row->set_busy_seconds(RankTable::UsualBusySeconds(*rank));
  }
}

void NodeAgent::SendRegister() {
  wire::FromNode message;
  auto* r = message.mutable_register_();
  r->set_major(kProtocolMajor);
  r->set_minor(kProtocolMinor);
  r->set_node(config_.node);
  r->set_host(config_.host);
  r->set_address(world_.facts.address);
  r->set_public_key(Utf8(world_.facts.public_key));
  for (const std::string& lane : lanes_) r->add_lanes(lane);
  r->set_version(TESSERA_VERSION);
  r->set_machine(Utf8(world_.facts.machine));
  r->set_link_bytes_per_second(config_.link_bytes_per_second);
  r->set_master_port(world_.facts.master_port);
  r->set_keeper_pid(world_.facts.keeper_pid);
  r->set_incarnation(world_.facts.incarnation);
  FillDevices(r->mutable_devices());
  views_->Describe(r->mutable_snapshots());
  FillJobs(r->mutable_jobs());
  if (txn_) {
    r->set_transaction(txn_->prepare.transaction());
    r->set_transaction_state(static_cast<std::uint32_t>(txn_->part->state()));
    r->set_transaction_job(txn_->prepare.job());
    r->set_transaction_slot(txn_->prepare.slot());
  }
  Send(std::move(message));
}

void NodeAgent::FillJobs(google::protobuf::RepeatedPtrField<wire::NodeJob>* out) const {
  for (const auto& [name, job] : jobs_) {
    auto* row = out->Add();
    row->set_job(name);
    row->set_epoch(job.row.epoch);
    row->set_ranks(ranks_.NumRunning(name));
    if (const auto all = AllPaused(name)) {
      row->set_paused(true);
      row->set_step(all->step);
      row->set_request(all->request);
      row->set_reason(Utf8(all->reason));
    }
  }
}

void NodeAgent::RepeatReports() {
  constexpr int kBeats = 5;
  if (++beats_ % kBeats == 0) rendezvous_.Repeat();
  for (const auto& [name, job] : jobs_) {
    if (job.starting) ReportPaused(name);
  }
  if (txn_ && txn_->repeats.IsDue(timers_.now())) RepeatReport();
}

void NodeAgent::SendHeartbeat() {
  wire::FromNode message;
  FillJobs(message.mutable_heartbeat()->mutable_jobs());
  FillDevices(message.mutable_heartbeat()->mutable_devices());
  if (txn_) message.mutable_heartbeat()->set_transaction(txn_->prepare.transaction());
  message.mutable_heartbeat()->set_view_bytes(views_->size_bytes());
  message.mutable_heartbeat()->set_order(last_order_);
  views_->Describe(message.mutable_heartbeat()->mutable_snapshots());
  Send(std::move(message));
}

void NodeAgent::ReportEvent(engine::Severity severity, const std::string& source,
                            const std::string& text) {
  // The registrar prints all events; the agents of other nodes print their own.
  if (config_.endpoint != config_.registrar_endpoint) {
    world_.log_line(fmt::format("{} {}: {}", ToString(severity), source, text));
  }
  wire::FromNode message;
  auto* event = message.mutable_event();
  event->set_severity(static_cast<std::uint32_t>(severity));
  event->set_source(source);
  event->set_text(Utf8(text));
  Send(std::move(message));
}

// From the transfer on, the old state may be overwritten at any time.
void NodeAgent::OnTakeView(const wire::TakeView& message) {
  const auto reply = [this](wire::ViewReport report) {
    wire::FromNode out;
    *out.mutable_view() = std::move(report);
    Send(std::move(out));
  };
  const auto job = jobs_.find(message.job());
  const bool changes = txn_ && txn_->prepare.job() == message.job() &&
                       txn_->part->state() >= engine::ParticipantState::kTransferring;
  if (job == jobs_.end() || changes) {
    wire::ViewReport refused;
    refused.set_view(message.view());
    refused.set_kind(wire::ViewReport::FAILED);
    Encode(FailedPrecondition(
               fmt::format("job '{}' cannot be viewed on this node now", message.job())),
           refused.mutable_error());
    return reply(std::move(refused));
  }
  std::optional<std::int64_t> paused_at;
  if (const auto all = AllPaused(message.job())) paused_at = all->step;
  views_->Take(message, {job->second.row, *store_, paused_at}, reply);
}

void NodeAgent::OnCompleteSnapshot(const wire::CompleteSnapshot& message) {
  views_->Complete(message, [this](wire::SnapshotReport report) {
    wire::FromNode out;
    *out.mutable_snapshot() = std::move(report);
    Send(std::move(out));
  });
}

void NodeAgent::OnMessage(const wire::ToNode& m) {
  last_message_ = timers_.now();
  switch (m.body_case()) {
    case wire::ToNode::kWelcome:
      if (!m.welcome().error().empty()) {
        return world_.log_line(
            fmt::format("the registrar refused n{}: {}", config_.node, m.welcome().error()));
      }
      welcomed_ = true;
      for (const auto& [job, recorded] : m.welcome().steps()) RepeatSteps(job, recorded);
      rendezvous_.Repeat();
      return;
    case wire::ToNode::kRepeatSteps:
      return RepeatSteps(m.repeat_steps().job(), m.repeat_steps().after());
    case wire::ToNode::kHeartbeat:
      return;
    case wire::ToNode::kUnknown:
      welcomed_ = false;
      SendRegister();
      return;
    case wire::ToNode::kStartJob:
      return OnStartJob(m.start_job());
    case wire::ToNode::kResumeJob:
      return OnResumeJob(m.resume_job());
    case wire::ToNode::kPauseJob:
      return OnPauseJob(m.pause_job());
    case wire::ToNode::kStopJob:
      return OnStopJob(m.stop_job());
    case wire::ToNode::kTakeDigests:
      return OnTakeDigests(m.take_digests());
    case wire::ToNode::kPrepare:
      return OnPrepare(m.prepare());
    case wire::ToNode::kPauseTxn:
      if (HearAbout(m.pause_txn().transaction())) {
        Feed(engine::PauseRequested{m.pause_txn().at_step()});
      }
      return;
    case wire::ToNode::kTransfer:
      if (HearAbout(m.transfer().transaction())) txn_->part->OnTransfer(m.transfer().step());
      return;
    case wire::ToNode::kVerify:
      if (HearAbout(m.verify().transaction())) Feed(engine::VerifyRequested{});
      return;
    case wire::ToNode::kOutcome:
      return OnOutcome(m.outcome());
    case wire::ToNode::kGo:
      return OnGo(m.go());
    case wire::ToNode::kExitNoted:
      return OnRankExitNoted(m.exit_noted().pid());
    case wire::ToNode::kStoreValue:
      return rendezvous_.OnValue(m.store_value());
    case wire::ToNode::kDecided:
      return OnDecided(m.decided());
    case wire::ToNode::kQuery:
      return world_.run_query(m.query(), [this](wire::NodeAnswer answer) {
        wire::FromNode message;
        *message.mutable_answer() = std::move(answer);
        Send(std::move(message));
      });
    case wire::ToNode::kTakeView:
      return OnTakeView(m.take_view());
    case wire::ToNode::kKeepViews:
      for (const std::uint64_t view : m.keep_views().views()) views_->Keep(view);
      return;
    case wire::ToNode::kReleaseViews:
      for (const std::uint64_t view : m.release_views().views()) views_->Release(view);
      return;
    case wire::ToNode::kCompleteSnapshot:
      return OnCompleteSnapshot(m.complete_snapshot());
    case wire::ToNode::kDropSnapshots:
      for (const std::uint64_t id : m.drop_snapshots().views()) views_->Drop(id);
      return;
    case wire::ToNode::kFinishUpdate:
      return OnFinishUpdate(m.finish_update());
    case wire::ToNode::kFailDevice:
      return OnFailDevice(m.fail_device().index());
    case wire::ToNode::kDie:
      if (m.die().clean()) {
        static_cast<void>(keeper_->Shutdown());
      } else {
        static_cast<void>(keeper_->Die());
      }
      return;
    case wire::ToNode::BODY_NOT_SET:
      return;
  }
}

}  // namespace tessera::agents
