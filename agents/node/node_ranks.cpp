// SPDX-License-Identifier: Apache-2.0
// Jobs and ranks of one node: start, pause, resume, stop, and the reports of ranks.
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "agents/job/rank_environment.h"
#include "agents/keeper/child.h"
#include "agents/move/digest_wire.h"
#include "agents/node/job_files.h"
#include "agents/node/node_agent.h"
#include "agents/wire/convert.h"
#include "agents/wire/utf8.h"
#include "engine/model/gpt.h"
#include "engine/model/job_layout.h"
#include "engine/store/allocate.h"

namespace tessera::agents {
namespace {

/// For a registrar that is out of reach; 400 KB.
constexpr std::size_t kMaxRecentSteps = 4096;

// Identifies a rank to a later agent; the keeper stores it.
std::string TagOf(const RankId& id, const Attempt& started) {
  return fmt::format("{} {} {} {}", id.job, ToString(id.device), started.epoch, started.attempt);
}

Result<std::pair<RankId, Attempt>> ParseTag(const std::string& tag) {
  std::istringstream in(tag);
  std::string job, device;
  Attempt started;
  if (!(in >> job >> device >> started.epoch >> started.attempt)) {
    return DataLoss(fmt::format("rank tag '{}' is not 'job device epoch attempt'", tag));
  }
  TESSERA_TRY(const ptc::DeviceId id, ptc::ParseDevice(device));
  return std::pair{RankId{job, id}, started};
}

}  // namespace

RankTable::World NodeAgent::WorldOfRanks() {
  RankTable::World world;
  world.kill = [this](std::int64_t pid) { static_cast<void>(keeper_->Signal(pid, SIGKILL)); };
  world.send_leave = [this](const RankId& id) {
    static_cast<void>(links_->SendCommand(id, RankCommand::kLeave, 0, nullptr));
  };
  world.after = [this](std::chrono::seconds delay, std::function<void()> run) {
    timers_.After(delay, std::move(run));
  };
  return world;
}

KeeperLink::Handlers NodeAgent::keeper_handlers() {
  KeeperLink::Handlers handlers;
  handlers.exited = [this](const KeeperLink::Rank& rank) { OnRankExited(rank); };
  handlers.stderr_line = [this](const KeeperLink::Rank& kept, const std::string& line) {
    const auto tag = ParseTag(kept.tag);
    if (!tag) return;
    if (Rank* rank = ranks_.Find(tag->first)) rank->last_line = line;
    ReportEvent(engine::Severity::kInfo,
                fmt::format("{} {}", tag->first.job, ToString(tag->first.device)), line);
  };
  return handlers;
}

RankLinks::Handlers NodeAgent::rank_handlers() {
  RankLinks::Handlers h;
  h.expects = [this](const RankId& id, std::int64_t pid) { return ExpectsRank(id, pid); };
  h.attached = [this](const RankId& id, std::int64_t) { OnRankAttached(id); };
  h.connected = [this](const RankId& id, std::int64_t epoch, std::int64_t attempt,
                       const Status& status) { OnRankConnected(id, epoch, attempt, status); };
  h.loading = [this](const RankId& id, const RankLoading& loading) {
    wire::FromNode message;
    auto* load = message.mutable_load();
    load->set_job(id.job);
    Encode(id.device, load->mutable_device());
    load->set_done(loading.done);
    load->set_total(loading.total);
    Send(std::move(message));
  };
  h.paused = [this](const RankId& id, std::int64_t step, std::uint64_t request,
                    const std::string& reason) {
    OnRankPaused(id, {step, request, reason});
  };
  h.decided = [this](const RankId& id, const RankDecision& d) { OnRankDecided(id, d); };
  h.adopted = [this](const RankId& id, std::int64_t epoch) { OnRankAdopted(id, epoch); };
  h.store_set = [this](const RankId& id, std::int64_t epoch, std::int64_t attempt,
                       const std::string& key, const std::string& value) {
    wire::StoreSet set;
    set.set_job(id.job);
    set.set_epoch(epoch);
    set.set_attempt(attempt);
    set.set_key(Utf8(key));
    set.set_value(value);
    rendezvous_.Set(std::move(set));
  };
  h.store_get = [this](const RankId& id, std::int64_t epoch, std::int64_t attempt,
                       const std::string& key, RendezvousRelay::Reply reply) {
    wire::StoreGet get;
    get.set_job(id.job);
    get.set_epoch(epoch);
    get.set_attempt(attempt);
    get.set_key(Utf8(key));
    rendezvous_.Get(std::move(get), std::move(reply));
  };
  return h;
}

Status NodeAgent::RecoverRanks() {
  TESSERA_TRY(const auto rows, journal_.List("job/"));
  for (const auto& [key, text] : rows) {
    TESSERA_TRY(JobRow row, ParseJobRow(key, text));
    Job job{.name = key.substr(4), .row = std::move(row)};
    if (store_->Of(job.name).empty()) continue;  // the memory of the job was lost with its keeper
    jobs_.emplace(job.name, std::move(job));
  }
  for (const KeeperLink::Rank& kept : keeper_->ranks()) {
    TESSERA_TRY(const auto tag, ParseTag(kept.tag));
    ranks_.Recover(tag.first, kept.pid, tag.second);
  }
  return OkStatus();
}

// A rank whose device no longer holds its job has left it. An earlier agent may have died before it
// could tell the rank so. A transaction looks after the ranks of its job itself.
bool NodeAgent::HasLeft(const RankId& id) {
  if (txn_ && txn_->prepare.job() == id.job) return false;
  const DeviceStore::Device* device = store_->Find(id.device);
  return !device || !device->table || device->table->job() != id.job;
}

Status NodeAgent::JournalJob(const Job& job) {
  Status put = journal_.Put("job/" + job.name, ToText(job.row));
  if (!put) {
    ReportEvent(engine::Severity::kError, fmt::format("n{}", config_.node),
                "journal: " + put.error().ToString());
  }
  return put;
}

Status NodeAgent::SpawnRank(const Launch& launch, int rank) {
  const std::vector<ptc::DeviceId>& devices = launch.layout.mesh().devices();
  const ptc::DeviceId device = devices[static_cast<std::size_t>(rank)];
  TESSERA_RETURN_IF_ERROR(ranks_.CheckFree(device));
  const RankId id{launch.job, device};
  RankEnvironmentSpec spec;
  spec.base = world_.environment();
  spec.socket = world_.facts.rank_socket;
  spec.id = id;
  spec.settings_file = SettingsPath(config_.directory, launch.job);
  spec.layout_file = LayoutPath(config_.directory, launch.job);
  spec.initialise = launch.initialise;
  spec.view =
      ViewOf(launch.layout, rank, launch.epoch, launch.attempt, launch.micro_batch, launch.peers);
  TESSERA_TRY(const engine::JobSettings settings, engine::ParseJobSettings(launch.settings));
  spec.collective_timeout = settings.collective_timeout;
  KeeperLink::SpawnRequest request;
  request.argv = settings.program
                     ? std::vector<std::string>{"/bin/sh", "-c", settings.program->command}
                     : std::vector<std::string>{world_.trainer_path()};
  if (launch.finish_update) request.argv.emplace_back("--finish-update");
  request.environment = RankEnvironment(spec);
  if (const wire::Peer* first = FindPeer(launch.peers, devices.front().node)) {
    for (std::string& entry :
         TorchrunEnvironment(spec.view, first->address(), first->master_port())) {
      request.environment.push_back(std::move(entry));
    }
  }
  request.device = device.index;
  const Attempt started{launch.epoch, launch.attempt};
  request.tag = TagOf(id, started);
  TESSERA_TRY(const std::int64_t pid, keeper_->Spawn(request));
  ranks_.Add(id, pid, started);
  return OkStatus();
}

void NodeAgent::OnStartJob(const wire::StartJob& message) {
  const Status status = StartJob(message);
  if (status) return;
  // Nothing of a start that failed is left, so that the message can be carried out again.
  const auto job = jobs_.find(message.job());
  if (!message.again() && job != jobs_.end() && job->second.start == message.start()) {
    KillRanks(message.job());
    ForgetJob(message.job());
  }
  wire::FromNode reply;
  reply.mutable_job_ready()->set_job(message.job());
  reply.mutable_job_ready()->set_ok(false);
  reply.mutable_job_ready()->set_reason(status.error().ToString());
  Send(std::move(reply));
}

Result<bool> NodeAgent::CheckHeldState(const wire::StartJob& message, ptc::DeviceId id) {
  const DeviceStore::Device* device = store_->Find(id);
  const std::string name = ToString(id);
  if (ranks_.Find({message.job(), id})) {
    return FailedPrecondition(fmt::format("the rank on {} is still ending", name));
  }
  if (!device || device->failed) return FailedPrecondition(fmt::format("{} failed", name));
  engine::ArenaHeader& header = device->arena->header();
  const auto step = static_cast<std::uint64_t>(message.step());
  const std::uint64_t end = header.end.load();
  // The rank ended between the decision of `step` and its update.
  const bool lags = message.decision().step() == message.step() && end + 1 == step &&
                    header.grads_step.load() == step;
  if (!device->table || device->table->job() != message.job() ||
      device->table->epoch() != message.epoch() || header.begin.load() != end ||
      (end != step && !lags)) {
    return FailedPrecondition(fmt::format("{} does not hold the state of epoch {} after step {}",
                                          name, message.epoch(), message.step()));
  }
  header.request.store(0);
  header.hold.store(0);
  if (!lags) return false;
  header.decision_step.store(0);
  header.decision_clip.store(message.decision().clip());
  header.decision_skip.store(message.decision().skip() ? 1 : 0);
  header.decision_loss.store(message.decision().loss());
  header.decision_norm2.store(message.decision().norm2());
  header.decision_tokens.store(static_cast<std::uint64_t>(message.decision().tokens()));
  header.decision_step.store(step);
  return true;
}

void NodeAgent::OnFinishUpdate(const wire::FinishUpdate& message) {
  last_order_ = message.order();
  const wire::StartJob& start = message.job();
  const auto job = jobs_.find(start.job());
  if (job == jobs_.end()) return;
  const JobRow& row = job->second.row;
  const Launch launch{start.job(),   row.settings,    row.layout,
                      start.epoch(), start.attempt(), start.micro_batch(),
                      false,         start.peers(),   true};
  for (const wire::Device& wanted : message.devices()) {
    const auto id = Decode(wanted);
    if (!id || id->node != config_.node || !row.layout.mesh().RankOf(*id)) continue;
    const auto lags = CheckHeldState(start, *id);
    Status status = lags ? OkStatus() : Status(lags.error());
    if (lags && *lags) status = SpawnRank(launch, *row.layout.mesh().RankOf(*id));
    if (Rank* rank = ranks_.Find({start.job(), *id})) rank->exit_expected = true;
    if (!status) ReportEvent(engine::Severity::kError, start.job(), status.error().ToString());
  }
  SendHeartbeat();
}

Status NodeAgent::StartAgain(const wire::StartJob& message) {
  const auto job = jobs_.find(message.job());
  if (job == jobs_.end()) {
    return FailedPrecondition(
        fmt::format("n{} holds nothing of job '{}'", config_.node, message.job()));
  }
  if (job->second.attempt == message.attempt()) {  // a repeated message
    ReportPaused(message.job());
    return OkStatus();
  }
  const JobRow& row = job->second.row;
  for (const ptc::DeviceId id : LocalOf(row.layout)) {
    if (const auto held = CheckHeldState(message, id); !held) return held.error();
  }
  job->second.starting = true;
  job->second.start = message.start();
  const Launch launch{message.job(),     row.settings,          row.layout, message.epoch(),
                      message.attempt(), message.micro_batch(), false,      message.peers()};
  for (const ptc::DeviceId id : LocalOf(row.layout)) {
    TESSERA_RETURN_IF_ERROR(SpawnRank(launch, *row.layout.mesh().RankOf(id)));
  }
  job->second.attempt = message.attempt();
  return OkStatus();
}

Status NodeAgent::StartJob(const wire::StartJob& message) {
  if (message.again()) return StartAgain(message);
  if (const auto job = jobs_.find(message.job()); job != jobs_.end()) {
    if (job->second.start == message.start()) {  // a repeated message
      ReportPaused(message.job());
      return OkStatus();
    }
    // The earlier job with this name has ended, but the message about its end was lost.
    KillRanks(message.job());
    ForgetJob(message.job());
  }
  recent_steps_.erase(message.job());  // of an earlier job with this name
  TESSERA_TRY(ptc::Layout layout, ptc::ParseLayout(message.layout()));
  TESSERA_TRY(const auto settings, engine::ParseJobSettings(message.settings()));
  TESSERA_RETURN_IF_ERROR(engine::CheckRunnable(settings, layout));
  std::vector<std::pair<DeviceStore::Device*, engine::PieceTable>> tables;
  for (const ptc::DeviceId id : LocalOf(layout)) {
    DeviceStore::Device* device = store_->Find(id);
    if (!device) return NotFound(fmt::format("device {} does not exist", ToString(id)));
    if (device->failed) return FailedPrecondition(fmt::format("device {} failed", ToString(id)));
    if (device->table) {
      return FailedPrecondition(
          fmt::format("device {} is in job '{}'", ToString(id), device->table->job()));
    }
    TESSERA_TRY(engine::PieceTable table,
                engine::AllocateInitial(message.job(), message.epoch(), layout,
                                        *layout.mesh().RankOf(id), device->arena->capacity()));
    tables.emplace_back(device, std::move(table));
  }
  TESSERA_RETURN_IF_ERROR(world_.write_job_files(message.job(), message.settings(), layout));
  Job job{message.job(),
          {message.settings(), layout, message.epoch(), message.timeline()},
          0,
          true,
          message.start()};
  // Without its row the next agent of this node would not know what the devices hold.
  TESSERA_RETURN_IF_ERROR(JournalJob(job));
  for (auto& [device, table] : tables) {
    TESSERA_RETURN_IF_ERROR(
        table.Write(*device->arena, engine::PieceTable::SlotOf(message.epoch())));
    store_->Flip(*device, table, message.timeline(), 0);
  }
  jobs_.emplace(job.name, std::move(job));
  const Launch launch{message.job(),     message.settings(),    layout, message.epoch(),
                      message.attempt(), message.micro_batch(), true,   message.peers()};
  for (const ptc::DeviceId id : LocalOf(layout)) {
    TESSERA_RETURN_IF_ERROR(SpawnRank(launch, *layout.mesh().RankOf(id)));
  }
  return OkStatus();
}

bool NodeAgent::ExpectsRank(const RankId& id, std::int64_t pid) {
  if (ranks_.Is(id, pid, world_.process_group(pid))) return true;
  if (strangers_.insert(pid).second) {
    ReportEvent(engine::Severity::kWarning, fmt::format("n{}", config_.node),
                fmt::format("refused process {}: it says that it is {} of '{}'", pid,
                            ToString(id.device), id.job));
  }
  return false;
}

void NodeAgent::OnRankAttached(const RankId& id) {
  // Its state may have changed while no agent ran.
  const auto state = links_->Find(id);
  if (Rank* rank = ranks_.Find(id); rank && state) rank->current_epoch = state->epoch;
}

void NodeAgent::OnRankConnected(const RankId& id, std::int64_t epoch, std::int64_t attempt,
                                const Status& status) {
  Rank* rank = ranks_.Find(id);
  if (!rank) return;
  rank->connected[{epoch, attempt}] = status.has_value();
  if (txn_ && txn_->prepare.job() == id.job && txn_->prepare.epoch() == epoch &&
      txn_->prepare.attempt() == attempt) {
    if (!status) {
      Feed(engine::RanksConnected{Status(Error(status.error()))});
    } else {
      CheckConnected();
    }
  }
}

void NodeAgent::OnRankPaused(const RankId& id, RankTable::Pause pause) {
  Rank* rank = ranks_.Find(id);
  const auto job = jobs_.find(id.job);
  if (!rank) return;
  const std::uint64_t request = pause.request;
  // A rank that has just started on a state waits after that state's step.
  if (pause.step < 0) {
    const DeviceStore::Device* device = store_->Find(id.device);
    pause.step = device ? static_cast<std::int64_t>(device->arena->header().end.load()) : 0;
  }
  rank->paused = std::move(pause);
  rank->adopted = false;
  if (txn_ && txn_->prepare.job() == id.job) {
    // The rank was disconnected when the transaction was committed, so ADOPT is sent again.
    if (txn_->part->state() == engine::ParticipantState::kCommitted) SendAdopt();
    if (IsJoiner(id)) return;
    if (const auto all = AllPaused(id.job)) {
      views_->OnPaused(id.job, all->step);
      Feed(engine::RanksPaused{all->step});
    }
    return;
  }
  if (HasLeft(id)) return ranks_.Retire(*rank);
  if (job == jobs_.end()) return;
  // The job was resumed before this pause arrived.
  if (request > engine::kRequestStepsDone && request <= job->second.resumed_through) {
    rank->paused.reset();
    static_cast<void>(
        links_->SendCommand(id, RankCommand::kResume, job->second.row.epoch, nullptr));
    return;
  }
  ReportPaused(id.job);
}

void NodeAgent::ReportPaused(const std::string& name) {
  const auto all = AllPaused(name);
  const auto job = jobs_.find(name);
  if (!all || job == jobs_.end()) return;
  views_->OnPaused(name, all->step);
  wire::FromNode message;
  if (job->second.starting) {
    message.mutable_job_ready()->set_job(name);
    message.mutable_job_ready()->set_ok(true);
  } else {
    message.mutable_job_paused()->set_job(name);
    message.mutable_job_paused()->set_request(all->request);
    message.mutable_job_paused()->set_step(all->step);
    message.mutable_job_paused()->set_reason(Utf8(all->reason));
  }
  Send(std::move(message));
}

void NodeAgent::ReportAllPaused() {
  for (const auto& [name, job] : jobs_) ReportPaused(name);
}

std::optional<RankTable::Pause> NodeAgent::AllPaused(const std::string& job) const {
  return ranks_.AllPaused(job, store_->Of(job));
}

void NodeAgent::OnRankDecided(const RankId& id, const RankDecision& decision) {
  const auto job = jobs_.find(id.job);
  if (Rank* rank = ranks_.Find(id)) ranks_.NoteStep(*rank, decision.busy);
  if (job == jobs_.end()) return;
  // All ranks know the decision. The node of rank 0 reports it; the others keep it, in case that
  // node and the registrar are lost together.
  const bool reports = job->second.row.layout.mesh().RankOf(id.device) == 0;
  std::map<std::int64_t, wire::StepReport>& recent = recent_steps_[id.job];
  if (!reports && recent.contains(decision.step)) return;
  wire::FromNode message;
  wire::StepReport* step = message.mutable_step();
  step->set_job(id.job);
  step->set_step(decision.step);
  step->set_loss(decision.loss);
  step->set_norm2(decision.norm2);
  step->set_clip(decision.clip);
  step->set_tokens(decision.tokens);
  step->set_seconds(decision.seconds);
  step->set_epoch(job->second.row.epoch);
  step->set_time(decision.time);
  step->set_timeline(job->second.row.timeline);
  recent.insert_or_assign(decision.step, *step);
  if (recent.size() > kMaxRecentSteps) recent.erase(recent.begin());
  if (reports) Send(std::move(message));
}

void NodeAgent::RepeatSteps(const std::string& job, std::int64_t after) {
  const auto recent = recent_steps_.find(job);
  if (recent == recent_steps_.end()) return;
  for (auto step = recent->second.upper_bound(after); step != recent->second.end(); ++step) {
    wire::FromNode message;
    *message.mutable_step() = step->second;
    Send(std::move(message));
  }
}

void NodeAgent::OnRankAdopted(const RankId& id, std::int64_t epoch) {
  Rank* rank = ranks_.Find(id);
  if (!rank) return;
  rank->current_epoch = epoch;
  rank->adopted = true;
  rank->busy.clear();  // its share of the work is another
  rank->paused.reset();
  if (txn_ && txn_->prepare.job() == id.job && txn_->prepare.epoch() == epoch) {
    CheckAdopted();
    return;
  }
  // The rank was disconnected when the others received Go.
  const auto job = jobs_.find(id.job);
  if (job != jobs_.end() && job->second.row.epoch == epoch) {
    rank->adopted = false;
    static_cast<void>(links_->SendGo(id, epoch, false));
  }
}

bool NodeAgent::Belongs(const RankId& id) const {
  const auto job = jobs_.find(id.job);
  return IsJoiner(id) ||
         (job != jobs_.end() && job->second.row.layout.mesh().RankOf(id.device).has_value());
}

// The keeper keeps an exit until the registrar has noted it, so that neither a restart of this
// agent nor a lost message hides it.
void NodeAgent::OnRankExited(const KeeperLink::Rank& exited) {
  const auto tag = ParseTag(exited.tag);
  const auto rank = tag ? ranks_.Remove(tag->first, exited.pid) : std::nullopt;
  if (!rank) return static_cast<void>(keeper_->Acknowledge(exited.pid));
  // A rank exits after it has left the layout. An earlier agent of this node may have sent it the
  // command.
  const bool exit_expected = rank->exit_expected || !Belongs(tag->first);
  // From the commit on, a joining rank is a rank of the job.
  const bool joiner =
      IsJoiner(tag->first) && txn_->part->state() != engine::ParticipantState::kCommitted;
  if (exit_expected) {
    static_cast<void>(keeper_->Acknowledge(exited.pid));
  } else {
    ReportExit(*rank, exited, joiner ? txn_->prepare.epoch() : tag->second.epoch, joiner);
  }
  if (welcomed_) SendHeartbeat();  // a suspended job waits for this; the reason comes before it
  if (txn_ && txn_->part->state() == engine::ParticipantState::kAborted) CheckCleanedUp();
  if (txn_ && txn_->part->state() == engine::ParticipantState::kCommitted) CheckAdopted();
}

void NodeAgent::ReportExit(const Rank& rank, const KeeperLink::Rank& exited, std::int64_t epoch,
                           bool joiner) {
  std::string reason =
      fmt::format("the rank on {} {}", ToString(rank.id.device), DescribeExit(exited.status));
  if (!rank.last_line.empty()) reason += ": " + rank.last_line;
  ReportEvent(engine::Severity::kError, rank.id.job, reason);
  wire::RankExited& out = exits_[exited.pid];
  out.set_job(rank.id.job);
  Encode(rank.id.device, out.mutable_device());
  out.set_epoch(epoch);
  out.set_attempt(rank.started.attempt);
  out.set_joining(joiner);
  out.set_pid(exited.pid);
  if (const auto job = jobs_.find(rank.id.job); job != jobs_.end()) {
    out.set_start(job->second.start);
  }
  out.set_reason(Utf8(reason));
  SendExits();
}

void NodeAgent::SendExits() {
  for (const auto& [pid, exit] : exits_) {
    wire::FromNode message;
    *message.mutable_rank_exited() = exit;
    Send(std::move(message));
  }
}

void NodeAgent::OnRankExitNoted(std::int64_t pid) {
  if (exits_.erase(pid) > 0) static_cast<void>(keeper_->Acknowledge(pid));
}

void NodeAgent::RaiseRequest(const std::string& job, std::uint64_t number, std::int64_t at_step) {
  for (const ptc::DeviceId id : store_->Of(job)) {
    engine::ArenaHeader& header = store_->Find(id)->arena->header();
    header.request_step.store(static_cast<std::uint64_t>(at_step));
    header.request.store(number);
  }
}

void NodeAgent::OnPauseJob(const wire::PauseJob& message) {
  RaiseRequest(message.job(), message.number(), message.at_step());
  ReportPaused(message.job());  // the job may be paused already
}

void NodeAgent::OnResumeJob(const wire::ResumeJob& message) {
  const auto job = jobs_.find(message.job());
  if (job == jobs_.end()) return;
  if (std::exchange(job->second.starting, false)) rendezvous_.Forget(message.job());
  job->second.resumed_through =
      std::max<std::uint64_t>(job->second.resumed_through, message.through());
  Resume(message.job(), true);
}

void NodeAgent::Resume(const std::string& name, bool data_too) {
  const auto job = jobs_.find(name);
  if (job == jobs_.end()) return;
  for (const ptc::DeviceId device : store_->Of(name)) {
    store_->Find(device)->arena->header().request.store(0);
    Rank* rank = ranks_.Find(RankId{name, device});
    if (!rank || !rank->paused || rank->paused->request == engine::kRequestStepsDone) continue;
    if (!data_too && rank->paused->request == engine::kRequestNoData) continue;
    rank->paused.reset();
    static_cast<void>(
        links_->SendCommand(rank->id, RankCommand::kResume, job->second.row.epoch, nullptr));
  }
}

void NodeAgent::OnStopJob(const wire::StopJob& message) {
  if (!message.forget()) {
    std::set<std::int64_t> pids;
    for (const auto& [id, rank] : ranks_.ranks()) {
      if (id.job == message.job()) pids.insert(rank.pid);
    }
    return EndRanks(message.job(), std::move(pids), timers_.now() + std::chrono::seconds(2));
  }
  KillRanks(message.job());
  ForgetJob(message.job());
  SendHeartbeat();
}

// If a rank dies inside an update, half of that update is made. If it dies between a decision and
// its update, its device stays one step behind the others. So ranks make the update of a decision
// that this node knows, and no later one. `pids`: the job may start again before the last of them
// has ended.
void NodeAgent::EndRanks(const std::string& job, std::set<std::int64_t> pids,
                         Timers::Clock::time_point deadline) {
  bool is_updating = false, has_others = false;
  for (auto& [id, rank] : ranks_.ranks()) {
    const DeviceStore::Device* device = id.job == job ? store_->Find(id.device) : nullptr;
    if (!device) continue;
    if (!pids.contains(rank.pid)) {
      has_others = true;
      continue;
    }
    engine::ArenaHeader& header = device->arena->header();
    header.hold.store(std::max(header.end.load(), header.decision_step.load()) + 1);
    const bool is_behind = header.decision_step.load() == header.end.load() + 1;
    const bool is_in_update = header.begin.load() != header.end.load();
    if ((is_behind || is_in_update) && timers_.now() <= deadline) {
      is_updating = true;
    } else {
      ranks_.Kill(rank);
    }
  }
  if (is_updating) {
    timers_.After(std::chrono::milliseconds(5),
                  [this, job, pids = std::move(pids), deadline] { EndRanks(job, pids, deadline); });
    return;
  }
  if (!has_others) KillRanks(job);
  SendHeartbeat();  // a suspended job waits for this
}

void NodeAgent::KillRanks(const std::string& job) {
  ranks_.KillAll(job);
  links_->Forget(job);
  views_->GiveUp(job);
}

void NodeAgent::ForgetJob(const std::string& job) {
  views_->Forget(job);
  rendezvous_.Forget(job);
  for (const ptc::DeviceId device : store_->Of(job)) store_->Free(*store_->Find(device));
  jobs_.erase(job);
  recent_steps_.erase(job);
  static_cast<void>(journal_.Erase("job/" + job));
  world_.remove_job_files(job);
}

void NodeAgent::OnTakeDigests(const wire::TakeDigests& message) {
  const auto job = jobs_.find(message.job());
  if (job == jobs_.end()) return;
  auto context = std::make_shared<MoveContext>(
      MoveContext{{message.job(), static_cast<std::int64_t>(message.number()), 0},
                  job->second.row.layout,
                  job->second.row.layout,
                  {},
                  {},
                  config_.node,
                  {},
                  {}});
  for (const ptc::DeviceId id : store_->Of(message.job())) {
    const DeviceStore::Device* device = store_->Find(id);
    context->local.emplace(id,
                           MoveContext::Local{device->arena.get(), *device->table, *device->table});
  }
  const std::uint64_t run = next_digest_run_++;
  digest_runs_[run] = world_.start_move(
      std::move(context),
      [this, run, name = message.job(), number = message.number()](const MoveResult& result) {
        wire::FromNode reply;
        auto* out = reply.mutable_digests();
        out->set_job(name);
        out->set_number(number);
        if (!result.status) out->set_error(result.status.error().ToString());
        EncodeDigests(result.before, out->mutable_devices());
        Send(std::move(reply));
        digest_runs_.erase(run);
      });
}

void NodeAgent::OnFailDevice(std::int32_t index) {
  DeviceStore::Device* device = store_->Find({config_.node, index});
  if (!device) return;
  device->failed = true;
  static_cast<void>(journal_.Put(fmt::format("failed/{}", index), "1"));
  for (auto& [id, rank] : ranks_.ranks()) {
    if (id.device.index == index) ranks_.Fail(rank);
  }
  ReportEvent(engine::Severity::kError, ToString(device->id), "the device failed (on request)");
  SendHeartbeat();
}

}  // namespace tessera::agents
