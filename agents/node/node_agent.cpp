// SPDX-License-Identifier: Apache-2.0
#include "agents/node/node_agent.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "agents/node/rank_tag.h"
#include "agents/wire/tessera/wire/node.pb.h"
#include "agents/wire/utf8.h"

namespace tessera::agents {
namespace {
constexpr auto kHeartbeat = std::chrono::seconds(1);
constexpr auto kProgressPeriod = std::chrono::milliseconds(100);
constexpr int kBeatsToRendezvous = 5;
constexpr std::int64_t kLongestBeat = 3;  // seconds
}  // namespace

NodeAgent::NodeAgent(Timers& timers, const AgentConfig& config, NodeWorld world)
    : timers_(timers),
      config_(config),
      world_(std::move(world)),
      uplink_(config_, world_),
      jobs_(config_.node, *world_.journal, uplink_, world_.memo),
      ranks_(WorldOfRanks()),
      rendezvous_([this](wire::FromNode message) { uplink_.Send(std::move(message)); }),
      starter_(config_, world_, links_, ranks_),
      steps_(jobs_, uplink_),
      pauses_(devices_, ranks_, jobs_, rendezvous_, links_, uplink_),
      committed_digests_(world_, uplink_),
      transactions_(WorldOfTransactions(), rendezvous_, [this] { SendHeartbeat(); }),
      rank_events_({.machine = world_,
                    .links = links_,
                    .devices = devices_,
                    .ranks = ranks_,
                    .jobs = jobs_,
                    .pauses = pauses_,
                    .steps = steps_,
                    .transactions = transactions_,
                    .rendezvous = rendezvous_,
                    .uplink = uplink_}),
      exits_(ranks_, jobs_, links_, uplink_, [this](const RankId& id) { return FindJoining(id); }),
      rank_ends_(timers_, devices_, ranks_, links_, [this] { SendHeartbeat(); }),
      starts_({.machine = world_,
               .devices = devices_,
               .ranks = ranks_,
               .jobs = jobs_,
               .starter = starter_,
               .pauses = pauses_,
               .steps = steps_,
               .logs = rank_logs_,
               .uplink = uplink_,
               .drop = [this](const std::string& job) { DropJob(job); },
               .send_heartbeat = [this] { SendHeartbeat(); }}),
      digests_(world_, devices_, jobs_, uplink_),
      mesh_checks_(links_, jobs_, uplink_),
      view_requests_(links_, devices_, jobs_, pauses_, transactions_, uplink_),
      kept_rows_(*world_.journal),
      report_({.config = config_,
               .machine = world_,
               .links = links_,
               .devices = devices_,
               .ranks = ranks_,
               .jobs = jobs_,
               .pauses = pauses_,
               .transactions = transactions_,
               .kept_rows = kept_rows_}),
      inbox_(WorldOfInbox()),
      last_message_(timers.now()) {}

NodeAgent::~NodeAgent() = default;

RankTable::World NodeAgent::WorldOfRanks() {
  RankTable::World world;
  world.kill = [this](std::int64_t pid) { static_cast<void>(links_.keeper->Signal(pid, SIGKILL)); };
  world.send_leave = [this](const RankId& id) {
    static_cast<void>(links_.ranks->SendCommand(id, RankCommand::kLeave, 0, nullptr));
  };
  world.after = [this](std::chrono::seconds delay, std::function<void()> run) {
    timers_.After(delay, std::move(run));
  };
  return world;
}

Inbox::World NodeAgent::WorldOfInbox() {
  Inbox::World world;
  world.ask = [this](const std::vector<std::uint64_t>& hashes) {
    wire::FromNode message;
    message.mutable_want_documents()->mutable_hashes()->Add(hashes.begin(), hashes.end());
    uplink_.Send(std::move(message));
  };
  world.deliver = [this](const wire::ToNode& message) { Handle(message); };
  world.share = [this](const std::string& text) { return world_.memo->Share(text); };
  return world;
}

NodeTransaction::World NodeAgent::WorldOfTransactions() {
  return {.timers = timers_,
          .machine = world_,
          .links = links_,
          .devices = devices_,
          .ranks = ranks_,
          .jobs = jobs_,
          .starter = starter_,
          .pauses = pauses_,
          .steps = steps_,
          .digests = committed_digests_,
          .uplink = uplink_,
          .rendezvous = rendezvous_};
}

// ---- start

Status NodeAgent::TakeOver(KeeperLink& keeper) {
  links_.keeper = &keeper;
  TESSERA_TRY(devices_, DeviceStore::Open(config_.node, keeper.arenas(), world_.attach_memory));
  for (auto& [id, device] : devices_.devices()) {
    // The agent before may have died while it held updates for a view or for digests.
    device.arena->header().hold.store(0);
  }
  for (const KeeperLink::Rank& kept : keeper.ranks()) {
    TESSERA_TRY(const auto tag, ParseTag(kept.tag));
    ranks_.Recover(tag.first, kept.pid, tag.second);
  }
  return OkStatus();
}

Status NodeAgent::Recover(NodeViews& views) {
  links_.views = &views;
  TESSERA_RETURN_IF_ERROR(ForgetOtherKeepers());
  TESSERA_RETURN_IF_ERROR(RecoverFailures());
  TESSERA_RETURN_IF_ERROR(jobs_.Recover(devices_, &set_aside_));
  TESSERA_RETURN_IF_ERROR(transactions_.Recover());
  TESSERA_RETURN_IF_ERROR(kept_rows_.Recover(&set_aside_));
  TESSERA_RETURN_IF_ERROR(views.Recover(&set_aside_));
  for (const std::string& note : set_aside_) world_.log_line(note);
  return OkStatus();
}

// Erases the journal if the keeper is a new one, because the memory of the old keeper is gone. A
// new keeper holds nothing yet.
Status NodeAgent::ForgetOtherKeepers() {
  engine::DurableStore& journal = *world_.journal;
  const std::string& keeper = world_.facts.keeper;
  TESSERA_TRY(const std::optional<std::string> known, journal.Get("keeper"));
  if (known == keeper) return OkStatus();
  for (const auto& [id, device] : devices_.devices()) {
    if (!device.table) continue;
    return DataLoss(fmt::format(
        "journal row 'keeper' is damaged: {}, but {} holds job '{}'",
        known ? fmt::format("it names another keeper, '{}'", *known) : std::string("it is missing"),
        ToString(id), device.table->job()));
  }
  TESSERA_TRY(const auto rows, journal.List(""));
  std::vector<engine::RowChange> changes;
  for (const auto& [key, value] : rows) changes.push_back({key, {}});
  changes.push_back({"keeper", keeper});
  return journal.Write(changes);
}

Status NodeAgent::RecoverFailures() {
  for (auto& [id, device] : devices_.devices()) {
    TESSERA_TRY(const std::optional<std::string> failed,
                world_.journal->Get(fmt::format("failed/{}", id.index)));
    device.failed = failed.has_value();
  }
  return OkStatus();
}

void NodeAgent::Start(RankLinks& ranks, std::vector<std::string> lanes) {
  links_.ranks = &ranks;
  lanes_ = std::move(lanes);
  rank_events_.RetireLeft();
  timers_.Every(kHeartbeat, [this] { Beat(); });
  timers_.Every(kProgressPeriod, [this] { transactions_.SendProgress(); });
  SendRegister();
}

// ---- ranks

RankLinks::Handlers NodeAgent::rank_handlers() {
  RankLinks::Handlers handlers = rank_events_.handlers();
  handlers.checked = [this](const RankId& id, std::uint64_t check, const Status& status) {
    mesh_checks_.OnChecked(id, check, status);
  };
  handlers.gone = [this](const RankId& id) { mesh_checks_.OnGone(id); };
  return handlers;
}

KeeperLink::Handlers NodeAgent::keeper_handlers() {
  KeeperLink::Handlers handlers;
  handlers.exited = [this](const KeeperLink::Rank& rank) { OnRankExited(rank); };
  handlers.stderr_line = [this](const KeeperLink::Rank& kept, const std::string& line) {
    OnOutput(kept, line);
  };
  return handlers;
}

void NodeAgent::OnOutput(const KeeperLink::Rank& kept, const std::string& line) {
  const auto tag = ParseTag(kept.tag);
  if (!tag) return;
  const RankId& id = tag->first;
  if (RankTable::Rank* rank = ranks_.Find(id)) rank->last_line = line;
  rank_logs_.Add(id.job, id.device.index, line);
  output_events_.Add(fmt::format("{} {}", id.job, ToString(id.device)), line, timers_.now());
}

void NodeAgent::OnRankExited(const KeeperLink::Rank& exited) {
  if (!exits_.OnExited(exited)) return;
  if (welcomed_) SendHeartbeat();  // a suspended job waits for this; the reason comes before it
  transactions_.OnRankEnded();
}

std::optional<RankExits::Joining> NodeAgent::FindJoining(const RankId& id) const {
  const NodeTransaction* txn = transactions_.current();
  if (!txn || !txn->Joins(id)) return std::nullopt;
  return RankExits::Joining{txn->prepare().epoch(),
                            txn->state() == engine::ParticipantState::kCommitted};
}

// ---- registrar

// Register gives the registrar the state of this node, and the registrar repeats what is still
// valid. The first one was sent before there was a connection, and the socket has kept it.
void NodeAgent::OnConnected() {
  is_connected_ = true;
  if (!std::exchange(was_connected_, true)) return;
  inbox_.Clear();
  SendRegister();
}

void NodeAgent::SendRegister() {
  wire::FromNode message;
  report_.FillRegister(lanes_, message.mutable_register_());
  uplink_.Send(std::move(message));
}

void NodeAgent::SendHeartbeat() {
  wire::FromNode message;
  report_.FillHeartbeat(starts_.last_order(), message.mutable_heartbeat());
  uplink_.Send(std::move(message));
}

void NodeAgent::Beat() {
  // What it says without a connection would be old when there is one again, and then it registers.
  ++beats_;
  if (is_connected_) inbox_.AskAgain();
  if (is_connected_ && welcomed_) {
    if (beats_ % beat_every_ == 0) SendHeartbeat();
    exits_.Repeat();
    if (beats_ % kBeatsToRendezvous == 0) rendezvous_.Repeat();
    pauses_.RepeatReady();
    transactions_.RepeatReport();
  } else if (is_connected_) {
    SendRegister();
  }
  if (welcomed_) transactions_.Beat();
  transactions_.AskAfterSilence(last_message_);
}

void NodeAgent::OnWelcome(const wire::Welcome& message) {
  if (!message.error().empty()) {
    return world_.log_line(
        fmt::format("the registrar refused n{}: {}", config_.node, message.error()));
  }
  if (message.wants_rows()) return SendKeptRows();
  welcomed_ = true;
  for (const std::string& note : std::exchange(set_aside_, {})) {
    uplink_.ReportNodeEvent(engine::Severity::kWarning, note);
  }
  for (const auto& [job, recorded] : message.steps()) steps_.Repeat(job, recorded);
  rendezvous_.Repeat();
}

void NodeAgent::SendKeptRows() {
  wire::FromNode message;
  *message.mutable_kept_rows() = kept_rows_.all();
  uplink_.Send(std::move(message));
}

void NodeAgent::OnStopJob(const wire::StopJob& message) {
  // Its ranks here may be those of a later job of the name, which join with a change. The registrar
  // repeats a stop as long as this node holds something.
  const NodeTransaction* const txn = transactions_.current();
  if (txn && txn->prepare().job() == message.job() && message.origin() != 0 &&
      txn->prepare().origin() != 0 && txn->prepare().origin() != message.origin()) {
    return;
  }
  // The registrar may have sent it before it knew what this node holds, or may not know it at all.
  if (const HeldJobs::Job* held = jobs_.Find(message.job())) {
    std::int64_t epoch = held->row.epoch;
    for (const ptc::DeviceId device : devices_.Of(message.job())) {
      epoch = std::max(epoch, devices_.Find(device)->table->epoch());
    }
    const bool is_other =
        message.origin() != 0 && held->row.origin != 0 && held->row.origin != message.origin();
    const bool is_newer = message.below_epoch() != 0 && epoch >= message.below_epoch();
    if (is_other || is_newer) return;
  }
  if (!message.forget()) return rank_ends_.End(message.job());
  DropJob(message.job());
  SendHeartbeat();
}

void NodeAgent::DropJob(const std::string& job) {
  rank_ends_.Kill(job);
  links_.views->Forget(job);
  rendezvous_.Forget(job);
  committed_digests_.Forget(job);
  for (const ptc::DeviceId device : devices_.Of(job)) devices_.Free(*devices_.Find(device));
  steps_.Forget(job);
  jobs_.Erase(job);
  world_.remove_job_files(job);
}

void NodeAgent::OnQuery(const wire::NodeQuery& message) {
  if (message.has_log() && !message.log().job().empty()) return OnRankLogQuery(message);
  if (message.has_held()) return OnHeldQuery(message);
  if (message.has_check_mesh()) return mesh_checks_.OnQuery(message);
  world_.run_query(message, [this](wire::NodeAnswer answer) {
    wire::FromNode out;
    *out.mutable_answer() = std::move(answer);
    uplink_.Send(std::move(out));
  });
}

void NodeAgent::OnRankLogQuery(const wire::NodeQuery& message) {
  const wire::LogRequest& wanted = message.log();
  const RankLogs::Lines found =
      rank_logs_.From(wanted.job(), wanted.device(), wanted.from(), wanted.lines());
  wire::FromNode out;
  out.mutable_answer()->set_ticket(message.ticket());
  wire::LogReply& log = *out.mutable_answer()->mutable_log();
  for (const std::string& line : found.lines) log.add_lines(Utf8(line));
  log.set_next(found.next);
  uplink_.Send(std::move(out));
}

void NodeAgent::OnHeldQuery(const wire::NodeQuery& message) {
  wire::FromNode out;
  out.mutable_answer()->set_ticket(message.ticket());
  wire::HeldJobsAnswer& held = *out.mutable_answer()->mutable_held();
  std::int64_t last = TransactionPart::LastEnded(*world_.journal);
  if (const NodeTransaction* txn = transactions_.current()) {
    const wire::Prepare& prepare = txn->prepare();
    last = std::max(last, prepare.transaction());
    wire::HeldChange& change = *held.mutable_change();
    change.set_transaction(prepare.transaction());
    change.set_job(prepare.job());
    change.set_slot(prepare.slot());
    change.set_state(static_cast<std::uint32_t>(txn->state()));
    change.set_epoch(prepare.epoch());
    change.set_to_hash(prepare.to_hash());
    change.set_in_rounds(prepare.rounds_size() > 0);
    for (const std::int32_t node : txn->Participants()) change.add_nodes(node);
  }
  for (const auto& [name, job] : jobs_.jobs()) {
    wire::HeldJobRow& row = *held.add_jobs();
    row.set_job(name);
    row.set_row(ToText(job.row));
    last = std::max({last, job.attempt, static_cast<std::int64_t>(job.resumed_through)});
  }
  for (const auto& [id, rank] : ranks_.ranks()) last = std::max(last, rank.started.attempt);
  held.set_last_number(last);
  if (const auto rows = world_.journal->List("snapshot/")) {
    for (const auto& [key, text] : *rows) held.add_snapshots(text);
  }
  uplink_.Send(std::move(out));
}

void NodeAgent::OnFailDevice(std::int32_t index) {
  DeviceStore::Device* device = devices_.Find({config_.node, index});
  if (!device) return;
  device->failed = true;
  static_cast<void>(world_.journal->Put(fmt::format("failed/{}", index), "1"));
  for (auto& [id, rank] : ranks_.ranks()) {
    if (id.device.index == index) ranks_.Fail(rank);
  }
  uplink_.ReportEvent(engine::Severity::kError, ToString(device->id),
                      "the device failed (on request)");
  SendHeartbeat();
}

void NodeAgent::OnDie(bool clean) {
  static_cast<void>(clean ? links_.keeper->Shutdown() : links_.keeper->Die());
}

void NodeAgent::OnMessage(wire::ToNode message) {
  last_message_ = timers_.now();
  inbox_.Take(std::move(message));
}

void NodeAgent::Handle(const wire::ToNode& m) {
  switch (m.body_case()) {
    case wire::ToNode::kWelcome:
      return OnWelcome(m.welcome());
    case wire::ToNode::kUnknown:
      welcomed_ = false;
      return SendRegister();
    case wire::ToNode::kHeartbeat:
      beat_every_ = std::clamp<std::int64_t>(m.heartbeat().beat_seconds(), 1, kLongestBeat);
      return;
    case wire::ToNode::kRepeatSteps:
      return steps_.Answer(m.repeat_steps());
    case wire::ToNode::kStartJob:
      return starts_.OnStartJob(m.start_job());
    case wire::ToNode::kFinishUpdate:
      return starts_.OnFinishUpdate(m.finish_update());
    case wire::ToNode::kPauseJob:
      return pauses_.OnPauseJob(m.pause_job());
    case wire::ToNode::kResumeJob:
      // Ranks that wait for the outcome of a transaction go on with its Go.
      if (transactions_.Changes(m.resume_job().job())) return;
      return pauses_.OnResumeJob(m.resume_job());
    case wire::ToNode::kStopJob:
      return OnStopJob(m.stop_job());
    case wire::ToNode::kExitNoted:
      return exits_.OnNoted(m.exit_noted().pid());
    case wire::ToNode::kStoreValue:
      return rendezvous_.OnValue(m.store_value());
    case wire::ToNode::kPrepare:
      return transactions_.OnPrepare(m.prepare());
    case wire::ToNode::kPauseTxn:
      return transactions_.OnPauseTxn(m.pause_txn());
    case wire::ToNode::kTransfer:
      return transactions_.OnTransfer(m.transfer());
    case wire::ToNode::kThrottle:
      return transactions_.OnThrottle(m.throttle());
    case wire::ToNode::kVerify:
      return transactions_.OnVerify(m.verify());
    case wire::ToNode::kOutcome:
      return transactions_.OnOutcome(m.outcome());
    case wire::ToNode::kGo:
      return transactions_.OnGo(m.go());
    case wire::ToNode::kDecided:
      return transactions_.OnDecided(m.decided());
    case wire::ToNode::kAskStateDigests: {
      // The report follows the end of the transaction here.
      const NodeTransaction* const txn = transactions_.current();
      if (txn && txn->prepare().transaction() == m.ask_state_digests().transaction()) return;
      return committed_digests_.OnAsk(m.ask_state_digests());
    }
    case wire::ToNode::kAskGroupCells:
      return committed_digests_.OnAskCells(m.ask_group_cells());
    case wire::ToNode::kTakeDigests:
      return digests_.Start(m.take_digests());
    case wire::ToNode::kTakeView:
      return view_requests_.OnTake(m.take_view());
    case wire::ToNode::kKeepViews:
      return view_requests_.OnKeep(m.keep_views());
    case wire::ToNode::kReleaseViews:
      return view_requests_.OnRelease(m.release_views());
    case wire::ToNode::kSaveShare:
      return view_requests_.OnSave(m.save_share());
    case wire::ToNode::kCompleteSnapshot:
      return view_requests_.OnComplete(m.complete_snapshot());
    case wire::ToNode::kDropSnapshots:
      return view_requests_.OnDrop(m.drop_snapshots());
    case wire::ToNode::kQuery:
      return OnQuery(m.query());
    case wire::ToNode::kFailDevice:
      return OnFailDevice(m.fail_device().index());
    case wire::ToNode::kKeepRow: {
      const auto kept = kept_rows_.Keep(m.keep_row());
      if (!kept) uplink_.ReportNodeEvent(engine::Severity::kError, kept.error().ToString());
      if (kept && !*kept) SendRegister();
      return;
    }
    case wire::ToNode::kKeepRows:
      if (const Status kept = kept_rows_.Replace(m.keep_rows()); !kept) {
        uplink_.ReportNodeEvent(engine::Severity::kError, kept.error().ToString());
      }
      return;
    case wire::ToNode::kDocument:  // the inbox keeps it
      return;
    case wire::ToNode::kDie:
      return OnDie(m.die().clean());
    case wire::ToNode::BODY_NOT_SET:
      return;
  }
}

}  // namespace tessera::agents
