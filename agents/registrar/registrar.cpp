// SPDX-License-Identifier: Apache-2.0
// The parts of the registrar, and which message goes to which of them.
#include "agents/registrar/registrar.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "agents/node/job_limits.h"
#include "agents/registrar/compute.h"
#include "agents/registrar/history_answers.h"
#include "agents/registrar/measured_rows.h"
#include "engine/history/unreadable_rows.h"

namespace tessera::agents {
namespace {
constexpr auto kTick = std::chrono::seconds(1);
constexpr auto kPublishPeriod = std::chrono::milliseconds(100);
// More than a cluster gives in a month; a generation of the registrar has ten times as many.
constexpr std::int64_t kSkippedNumbers = 100'000;
constexpr char kIncarnation[] = "incarnation";  // row: when the cluster was started

/// Whether a worker or the threads of nodes compute the answer, for a request that only looks.
bool TakesLong(const wire::Request& request) {
  return request.has_plan() || request.has_propose() || request.has_propose_start() ||
         request.has_history() || request.has_samples() || request.has_events() ||
         request.has_changes() || request.has_log() || request.has_doctor() ||
         request.has_list_checkpoints() || request.has_registrar();
}
/// Whether it needs the bytes of a job's state.
bool ReadsBytes(const wire::Request& request) {
  return request.has_view() || request.has_hand_in() || request.has_save_checkpoint() ||
         request.has_load_checkpoint();
}
}  // namespace

// The functions that parts get may name parts that come later: they are called only after all
// parts are made.
Registrar::Registrar(Timers& timers, const AgentConfig& config, World world)
    : timers_(timers),
      config_(config),
      world_(std::move(world)),
      members_(std::chrono::seconds(config.node_lost_seconds)),
      publisher_(WorldOfPublisher(), world_.history),
      common_{timers_, config_, world_, members_, publisher_},
      rendezvous_([this](std::int32_t node, const wire::ToNode& message) {
        static_cast<void>(common_.Send(node, message));
      }),
      documents_(common_),
      node_queries_(timers,
                    [this](std::int32_t node, const wire::ToNode& message) {
                      return common_.Send(node, message);
                    }),
      numbers_(world_.journal),
      jobs_(
          common_, [this](const std::string& name) { return openings_.CheckNotOpening(name); },
          [this](const std::string& name) { return transactions_.Changes(name); }),
      lease_(common_),
      clients_(common_, lease_),
      turns_(timers),
      node_acts_(common_,
                 [this](const std::string& why) {
                   steps_.Flush();
                   clients_.SayGoodbye(why);
                 }),
      slow_ranks_(common_),
      states_(common_, jobs_, WorldOfStateRequests()),
      stops_(common_, jobs_, rendezvous_),
      sender_(common_, jobs_, documents_),
      steps_(
          common_, jobs_,
          [this](const Job& job) {
            states_.ConsiderSnapshot(job);
            checkpoints_.Consider(job);
          },
          [this](const Job& job) { checkpoints_.OnProgram(job); }),
      decisions_(common_, WorldOfDecisions()),
      links_(common_, node_queries_, [this] { return CheckIdle(); }),
      inquiries_(common_, jobs_, node_queries_, [this] { return CheckFree(); }),
      plans_(common_, jobs_, links_, inquiries_),
      replicas_(common_),
      pauses_(common_, jobs_, numbers_, WorldOfPauses()),
      openings_(common_, jobs_),
      checkpoints_(common_, jobs_, {states_.views(), node_queries_}, WorldOfCheckpoints()),
      starter_(common_, jobs_,
               {openings_, plans_, decisions_, steps_, sender_, stops_, rendezvous_},
               WorldOfStarts()),
      transactions_(
          common_, jobs_,
          {numbers_, decisions_, documents_, plans_, links_, steps_, rendezvous_, replicas_},
          WorldOfTransactions()),
      losses_(common_, jobs_,
              {plans_, states_.snapshots(), checkpoints_, steps_, stops_, transactions_},
              WorldOfLosses()),
      returns_(common_, jobs_, {plans_, steps_, transactions_}, WorldOfReturns()),
      restarter_(common_, jobs_, {numbers_, steps_, sender_, stops_, pauses_, losses_, returns_},
                 WorldOfRestarts()),
      rebuilder_(common_, jobs_, {node_queries_, numbers_, decisions_, states_.snapshots()},
                 WorldOfRebuilds()) {}

Registrar::~Registrar() {
  for (const Timers::TimerId timer : periodic_) timers_.Cancel(timer);
}

Status Registrar::Recover() {
  TESSERA_RETURN_IF_ERROR(jobs_.Recover());
  TESSERA_RETURN_IF_ERROR(RecoverNumbers());
  for (const auto& [name, job] : jobs_) openings_.Describe(job);
  TESSERA_RETURN_IF_ERROR(states_.snapshots().Recover());
  TESSERA_RETURN_IF_ERROR(checkpoints_.Recover());
  TESSERA_RETURN_IF_ERROR(steps_.Recover());
  TESSERA_RETURN_IF_ERROR(inquiries_.Recover());
  TESSERA_RETURN_IF_ERROR(links_.Recover());
  TESSERA_RETURN_IF_ERROR(transactions_.Recover());
  TESSERA_RETURN_IF_ERROR(ContinueHistory());
  NameIncarnation();
  periodic_ = {timers_.Every(kTick, [this] { OnTick(); }),
               timers_.Every(kPublishPeriod, [this] { publisher_.Tick(timers_.now()); })};
  return OkStatus();
}

Status Registrar::RecoverNumbers() {
  const auto upcoming = numbers_.Upcoming();
  if (upcoming) return OkStatus();
  if (upcoming.error().code != ErrorCode::kDataLoss) return upcoming.error();
  TESSERA_TRY(const auto row, world_.journal.Get(TransactionNumbers::kKey));
  TESSERA_TRY(const std::string note,
              engine::SetAside(world_.journal, "registrar.db", TransactionNumbers::kKey,
                               row.value_or(std::string()), upcoming.error()));
  AddEvent(engine::Severity::kError, "registrar", note);
  // Nodes take a message with a number that they have seen for an old one.
  std::int64_t known = 0;
  for (const auto& [name, job] : jobs_) known = std::max(known, job.attempt);
  const auto newest = world_.history.Transactions(engine::TransactionQuery{.limit = 1});
  if (newest && !newest->empty()) known = std::max(known, newest->front().id);
  return numbers_.SkipTo(known + kSkippedNumbers);
}

Status Registrar::ContinueHistory() {
  const auto newest = world_.history.Transactions(engine::TransactionQuery{.limit = 1});
  if (!newest) return OkStatus();  // the history is never waited for
  TESSERA_TRY(const auto rows, world_.journal.List(""));
  const bool is_new = std::ranges::all_of(rows, [](const auto& row) {
    const bool is_measured =
        std::ranges::any_of(kMeasuredRows, [&](const char* key) { return row.first == key; });
    return is_measured || row.first.starts_with("mirror-");
  });
  if (is_new) {
    const auto last = world_.history.LastEvent();
    if (last && *last > 0) {
      AddEvent(engine::Severity::kInfo, "registrar",
               "the cluster begins anew and continues the history of the one before");
    }
    publisher_.NoteNodesLeft();
  }
  return newest->empty() ? OkStatus() : numbers_.SkipTo(newest->front().id);
}

void Registrar::NameIncarnation() {
  const auto known = world_.journal.Get(kIncarnation);
  std::string began;
  if (known && *known) {
    began = **known;
  } else {
    // Without a row, clients take the next registrar for one of another cluster and read all again.
    began = std::to_string(static_cast<std::int64_t>(world_.wall_clock() * 1e9));
    publisher_.NoteJournaled(world_.journal.Put(kIncarnation, began));
  }
  clients_.SetIncarnation(fmt::format("{}/{}", world_.history.Id().value_or(""), began));
}

// ---- what parts ask of each other

Publisher::World Registrar::WorldOfPublisher() {
  Publisher::World world;
  world.send = world_.publish;
  world.print = world_.print;
  world.state = [this](bool all_nodes) { return State(all_nodes); };
  world.wall_clock = world_.wall_clock;
  return world;
}

Decisions::World Registrar::WorldOfDecisions() {
  Decisions::World world;
  world.is_explained = [this](std::int32_t node, const std::string& job) {
    return jobs_.IsExplainedOn(node, job);
  };
  world.next_slot = [this](const std::string& name) {
    const Job* const job = jobs_.Find(name);
    return job ? std::optional(job->slot) : std::nullopt;
  };
  world.running = [this](const std::string& job, std::int64_t slot) {
    const bool is_open = transactions_.Changes(job) && transactions_.running()->slot == slot;
    return is_open ? std::optional(transactions_.running()->id) : std::nullopt;
  };
  world.took_part = [this](std::int32_t node, const std::string& job, std::int64_t transaction) {
    return transactions_.HadParticipant(transaction, job, node);
  };
  world.retire = [this](const std::string& name, std::int64_t slot) {
    Job* const job = jobs_.Find(name);
    if (!job || slot < job->slot) return true;
    job->slot = slot + 1;
    return jobs_.Journal(*job).has_value();
  };
  world.takes_part = [this](std::int32_t node) { return transactions_.HasParticipant(node); };
  world.settled = [this](const std::string& name, std::int64_t transaction) {
    const Job* const job = jobs_.Find(name);
    const bool is_known = job && job->given_up.contains(transaction);
    return is_known ? std::optional(job->given_up.at(transaction)) : std::nullopt;
  };
  world.aborted = [this](std::int64_t transaction, const std::string& why) {
    transactions_.OnAborted(transaction, why);
  };
  return world;
}

TransactionDesk::World Registrar::WorldOfTransactions() {
  TransactionDesk::World world;
  world.check_free = [this] { return CheckFree(); };
  world.rests_at = [this](const Job& job) {
    return job.restarts ? std::nullopt : restarter_.RestsAt(job);
  };
  world.transfer_begins = [this](const std::string& job) { states_.views().OnTransfer(job); };
  world.recovered = [this](Job& job, const Txn& txn, bool committed, const std::string& reason) {
    losses_.OnRecovered(job, txn, committed, reason);
  };
  world.timeline_begins = [this](const std::string& job, std::int64_t timeline, std::int64_t step) {
    checkpoints_.OnTimeline(job, timeline, step);
  };
  world.started = [this](Job& job) { starter_.OnStarted(job); };
  world.settled = [this](Job& job) { pauses_.MarkPausedIfAllStopped(job); };
  world.interrupt = [this](Job& job, const std::string& why, RankEnd end) {
    InterruptJob(job, why, end);
  };
  return world;
}

PauseDesk::World Registrar::WorldOfPauses() {
  PauseDesk::World world;
  world.check_idle = [this] { return CheckIdle(); };
  world.is_changing = [this](const Job& job) { return transactions_.Changes(job.name); };
  world.rests_at = [this](const Job& job) { return restarter_.RestsAt(job); };
  return world;
}

LossDesk::World Registrar::WorldOfLosses() {
  LossDesk::World world;
  world.restart_jobs = [this] { restarter_.RestartJobs(); };
  world.consider_snapshot = [this](const Job& job) { states_.ConsiderSnapshot(job); };
  world.forecast_snapshots = [this](const Job& job, std::function<void(std::string)> then) {
    states_.Forecast(job, [this, name = job.name, then = std::move(then)](const auto& forecast) {
      const Job* const now = jobs_.Find(name);
      const std::string lack = now ? states_.LackFor(*now, forecast) : std::string();
      then(ToText(forecast.memory) +
           (lack.empty() ? "" : ". They are likely to be given up: " + lack));
    });
  };
  return world;
}

MeshReturn::World Registrar::WorldOfReturns() {
  TransactionDesk::World world = WorldOfTransactions();
  return {std::move(world.check_free), std::move(world.rests_at)};
}

Restarter::World Registrar::WorldOfRestarts() {
  Restarter::World world;
  world.running_transaction = [this] {
    const Txn* const running = transactions_.running();
    return running ? running->id : 0;
  };
  world.check_idle = [this] { return CheckIdle(); };
  world.suspended = [this](const std::string& job, const Error& why) {
    states_.views().OnJobOver(job, why);
  };
  return world;
}

JobStarter::World Registrar::WorldOfStarts() {
  JobStarter::World world;
  world.check_idle = [this] { return CheckIdle(); };
  world.is_changing = [this](const Job& job) { return transactions_.Changes(job.name); };
  world.interrupt = [this](Job& job, const std::string& why) { InterruptJob(job, why); };
  world.restarted = [this](Job& job) { restarter_.OnRestarted(job); };
  world.resume = [this](Job& job) { pauses_.Resume(job); };
  world.look = [this](const std::string& path,
                      std::function<void(Result<checkpoint::Manifest>)> then) {
    checkpoints_.Look(path, std::move(then));
  };
  world.begin_from = [this](const Job& job, StoredState state) {
    transactions_.BeginFrom(job, std::move(state));
  };
  world.forgotten = [this](const std::string& job) {
    states_.Forget(job);
    checkpoints_.Forget(job);
  };
  return world;
}

CheckpointDesk::World Registrar::WorldOfCheckpoints() {
  CheckpointDesk::World world;
  world.is_in_use = [this](const std::string& path) {
    const Txn* const txn = transactions_.running();
    return txn && txn->checkpoint() && txn->checkpoint()->place == path;
  };
  // A suspended job may be able to continue from it, or no longer.
  world.changed = [this](const std::string&) { restarter_.RestartJobs(); };
  return world;
}

StateRequests::World Registrar::WorldOfStateRequests() {
  StateRequests::World world;
  world.transaction = [this] { return transactions_.running(); };
  world.rests_at = [this](const Job& job) { return restarter_.RestsAt(job); };
  return world;
}

Status Registrar::CheckIdle() const {
  TESSERA_RETURN_IF_ERROR(transactions_.CheckIdle());
  return pauses_.CheckIdle();
}

Status Registrar::CheckFree() const {
  TESSERA_RETURN_IF_ERROR(CheckIdle());
  return links_.CheckNotMeasuring();
}

TableRebuilder::World Registrar::WorldOfRebuilds() {
  TableRebuilder::World world;
  world.check_idle = [this] { return CheckIdle(); };
  world.restored = [this](Job& job) {
    steps_.RestartCountAt(job, job.step);
    openings_.Describe(job);
  };
  world.completed = [this] {
    if (world_.table_rebuilt) world_.table_rebuilt();
  };
  world.destroyed = [this](const std::string& name) {
    if (Job* const job = jobs_.Find(name)) return Close(*job);
    states_.Forget(name);
    checkpoints_.Forget(name);
  };
  return world;
}

// ---- messages

void Registrar::AddEvent(engine::Severity severity, const std::string& source,
                         const std::string& text) {
  publisher_.AddEvent(severity, source, text);
}

void Registrar::AddNodeEvent(engine::Severity severity, const Node& node, const std::string& text) {
  publisher_.AddNodeEvent(severity, NoteOf(StatusOf(node)), text);
}

void Registrar::OnRequest(const std::string& identity, const KeyOwner& owner,
                          const wire::Request& request) {
  const ReplyPtr reply = clients_.Admit(identity, owner, request);
  if (!reply) return;
  if (!TakesLong(request)) return Answer(identity, owner, request, reply);
  const Status queued = turns_.Take(owner.name, [=, this](RequestTurns::Turn turn) {
    reply->Hold(std::move(turn));
    Answer(identity, owner, request, reply);
  });
  if (!queued) reply->Fail(queued.error());
}

void Registrar::Answer(const std::string& identity, const KeyOwner& owner,
                       const wire::Request& request, const ReplyPtr& reply) {
  if (world_.simulation && ReadsBytes(request)) {
    return reply->Fail(FailedPrecondition(fmt::format(
        "cluster '{}' is simulated: the state of its jobs has no bytes", config_.cluster)));
  }
  switch (request.body_case()) {
    case wire::Request::kHello:
      return clients_.OnHello(identity, owner, request.hello(), reply);
    case wire::Request::kStatus:
      return OnStatus(reply);
    case wire::Request::kOperate:
      return lease_.OnOperate(identity, owner, request.operate(), reply);
    case wire::Request::kStartJob:
      return starter_.OnStartJob(request.start_job(), reply);
    case wire::Request::kJob:
      return OnJobRequest(request.job(), reply);
    case wire::Request::kPlan:
      return plans_.OnPlan(request.plan(), reply);
    case wire::Request::kApply:
      return transactions_.OnApply(request.id(), request.apply(), reply);
    case wire::Request::kTxn:
      return transactions_.OnTxnRequest(request.txn(), reply);
    case wire::Request::kCancel:
      return transactions_.OnCancel(request.cancel(), reply);
    case wire::Request::kThrottle:
      return transactions_.OnThrottle(request.throttle(), reply);
    case wire::Request::kDigest: {
      const Result<Job*> job = jobs_.Need(request.digest().job());
      if (!job) return reply->Fail(job.error());
      return pauses_.Begin(PauseDesk::Kind::kDigest, **job, reply);
    }
    case wire::Request::kHistory:
    case wire::Request::kSamples:
    case wire::Request::kEvents:
    case wire::Request::kChanges:
      return OnHistory(request, reply);
    case wire::Request::kFailDevice:
      return node_acts_.OnFailDevice(request.fail_device(), reply);
    case wire::Request::kKillNode:
      return node_acts_.OnKillNode(request.kill_node(), reply);
    case wire::Request::kShutdown:
      return node_acts_.OnShutdown(reply);
    case wire::Request::kSimulate:
      return node_acts_.OnSimulate(request.simulate(), reply);
    case wire::Request::kPropose:
      return plans_.OnPropose(request.propose(), reply);
    case wire::Request::kProposeStart:
      return starter_.OnPropose(request.propose_start(), reply);
    case wire::Request::kProbe:
      return inquiries_.OnProbe(request.probe(), reply);
    case wire::Request::kTopology:
      return links_.OnTopology(request.topology(), reply);
    case wire::Request::kDoctor:
      return inquiries_.OnDoctor(reply);
    case wire::Request::kRegistrar:
      return decisions_.OnShow(reply);
    case wire::Request::kRebuild:
      return rebuilder_.OnRebuild(reply);
    case wire::Request::kLog:
      return inquiries_.OnLog(request.log(), reply);
    case wire::Request::kProgram:
      return inquiries_.OnProgram(request.program().job(), reply);
    case wire::Request::kCheckMesh:
      return inquiries_.OnCheckMesh(owner.role, request.check_mesh(), reply);
    case wire::Request::kJobs:
      return states_.OnJobs(owner.role, reply);
    case wire::Request::kView:
      return states_.OnView(request.id(), request.view(), reply);
    case wire::Request::kHandIn:
      return transactions_.OnHandIn(request.id(), request.hand_in(), reply);
    case wire::Request::kSaveCheckpoint:
      return checkpoints_.OnSave(request.save_checkpoint(), reply);
    case wire::Request::kListCheckpoints:
      return checkpoints_.OnList(request.list_checkpoints(), reply);
    case wire::Request::kDeleteCheckpoint:
      return checkpoints_.OnDelete(request.delete_checkpoint(), reply);
    case wire::Request::kLoadCheckpoint:
      return OnLoadCheckpoint(request.id(), request.load_checkpoint(), reply);
    case wire::Request::kDecision:
      return losses_.OnDecision(request.decision(), reply);
    case wire::Request::kKeepViews:
      return states_.OnKeepViews(request.keep_views(), reply);
    case wire::Request::kReleaseViews:
      return states_.OnReleaseViews(request.release_views(), reply);
    case wire::Request::BODY_NOT_SET:
      return reply->Fail(InvalidArgument("the request has no body that this program knows"));
  }
}

bool Registrar::IsPartOf(const std::string& name, std::int32_t node) const {
  const Job* const job = jobs_.Find(name);
  if (!job) return false;
  if (HasNode(*job, node)) return true;
  return transactions_.Changes(name) && transactions_.HasParticipant(node);
}

// Nodes that have left the job since may be the only ones that know a step which is missing.
bool Registrar::MayReport(std::int32_t node, const wire::StepReport& m) const {
  const Job* const job = jobs_.Find(m.job());
  return job && (m.step() <= job->step || IsPartOf(m.job(), node));
}

std::string Registrar::SourceOf(const wire::FromNode& m) const {
  const std::string own = fmt::format("n{}", m.node());
  const std::string& source = m.event().source();
  const std::string first = source.substr(0, source.find(' '));
  const auto device = ptc::ParseDevice(first);
  const bool is_own = first == own || (device && device->node == m.node());
  return is_own || IsPartOf(first, m.node()) ? source : own;
}

void Registrar::OnNode(const std::string& identity, const wire::FromNode& m) {
  if (m.has_register_()) return OnRegister(identity, m.register_());
  if (m.has_cannot_run()) return OnCannotRun(m.node(), m.cannot_run().reason());
  Node* node = members_.Accept(identity, m, timers_.now());
  if (!node) {
    wire::ToNode unknown;
    unknown.mutable_unknown();
    static_cast<void>(world_.send(identity, unknown));
    return;
  }
  switch (m.body_case()) {
    case wire::FromNode::kHeartbeat:
      return OnHeartbeat(*node, m.heartbeat());
    case wire::FromNode::kLoad:
      return OnRankLoad(m.node(), m.load());
    case wire::FromNode::kRankExited:
      return OnRankExited(m.node(), m.rank_exited());
    case wire::FromNode::kStep:
      if (MayReport(m.node(), m.step())) steps_.OnStep(m.step());
      return;
    case wire::FromNode::kStepsRepeated:
      return steps_.OnRepeated(m.node(), m.steps_repeated());
    case wire::FromNode::kJobReady:
      return starter_.OnJobReady(m.node(), m.job_ready());
    case wire::FromNode::kJobPaused:
      return pauses_.OnJobPaused(m.node(), m.job_paused());
    case wire::FromNode::kDigests:
      return pauses_.OnDigests(m.node(), m.digests());
    case wire::FromNode::kTxn:
      return transactions_.OnReport(m.node(), m.txn());
    case wire::FromNode::kProgress:
      return transactions_.OnProgress(m.node(), m.progress());
    case wire::FromNode::kStateDigests:
      return transactions_.OnStateDigests(m.node(), m.state_digests());
    case wire::FromNode::kGroupCells:
      return replicas_.OnCells(m.node(), m.group_cells());
    case wire::FromNode::kEvent: {
      const auto dropped = event_limits_.Admit(m.node(), timers_.now());
      if (!dropped) return;
      if (*dropped > 0) {
        AddEvent(engine::Severity::kWarning, fmt::format("n{}", m.node()),
                 fmt::format("sends too many events; {} were dropped", *dropped));
      }
      const auto severity = m.event().severity();
      AddEvent(severity <= static_cast<std::uint32_t>(engine::Severity::kError)
                   ? static_cast<engine::Severity>(severity)
                   : engine::Severity::kInfo,
               SourceOf(m), m.event().text());
      return;
    }
    case wire::FromNode::kStoreSet:
      if (IsPartOf(m.store_set().job(), m.node())) rendezvous_.Set(m.store_set());
      return;
    case wire::FromNode::kStoreGet:
      if (IsPartOf(m.store_get().job(), m.node())) rendezvous_.Get(m.node(), m.store_get());
      return;
    case wire::FromNode::kDecide:
      return decisions_.OnDecide(m.node(), m.decide());
    case wire::FromNode::kWantDocuments:
      return documents_.OnWanted(m.node(), m.want_documents());
    case wire::FromNode::kAnswer:
      return node_queries_.OnAnswer(m.node(), m.answer());
    case wire::FromNode::kView:
      return states_.views().OnReport(m.node(), m.view());
    case wire::FromNode::kSave:
      return checkpoints_.OnReport(m.node(), m.save());
    case wire::FromNode::kSnapshot:
      return states_.snapshots().OnReport(m.node(), m.snapshot(), timers_.now());
    case wire::FromNode::kRegister:
    case wire::FromNode::kCannotRun:
    case wire::FromNode::kKeptRows:  // for a registrar that takes over
    case wire::FromNode::BODY_NOT_SET:
      return;
  }
}

// ---- requests that concern several parts

// A job that has no rows yet is the latest of its name all the same.
wire::Request Registrar::OfLatestJob(wire::Request request) const {
  const auto name = [&](auto& body) {
    const Job* const job =
        body.has_origin() || body.all_of_name() ? nullptr : jobs_.Find(body.job());
    if (job != nullptr) body.set_origin(static_cast<std::int64_t>(job->start));
  };
  if (request.has_history()) name(*request.mutable_history());
  if (request.has_samples()) name(*request.mutable_samples());
  return request;
}

void Registrar::OnHistory(const wire::Request& request, const ReplyPtr& reply) {
  steps_.Flush();
  ComputeWith(
      world_,
      [this, request = OfLatestJob(request)] { return AnswerFromHistory(world_.reader, request); },
      [reply](Result<wire::Reply> answer) {
        if (!answer) return reply->Fail(answer.error());
        reply->Done(std::move(*answer));
      });
}

void Registrar::OnJobRequest(const wire::JobRequest& request, const ReplyPtr& reply) {
  if (openings_.Stop(request, reply)) return;
  if (request.act() == wire::JobRequest::STOP && jobs_.IsSetAside(request.job())) {
    return OnForgetSetAside(request.job(), reply);
  }
  if (request.act() == wire::JobRequest::STOP && !jobs_.CheckStoppable(request.job())) {
    const Job* const here = jobs_.Find(request.job());
    const bool starts = here && here->starting;
    if (!starts) return rebuilder_.OnStop(request.job(), request.destroy(), reply);
  }
  const Result<Job*> found = jobs_.Need(request.job());
  if (!found) return reply->Fail(found.error());
  Job& job = **found;
  if (request.destroy()) {
    return reply->Fail(FailedPrecondition(
        fmt::format("job '{}' is in the job table: stop it without --destroy", job.name)));
  }
  if (request.act() == wire::JobRequest::STOP) return OnStop(job, reply);
  if (request.act() == wire::JobRequest::PAUSE) {
    return pauses_.Begin(PauseDesk::Kind::kPause, job, reply);
  }
  OnResume(job, reply);
}

// A node that comes back with the job holds one that the table does not know: nothing is freed.
void Registrar::OnForgetSetAside(const std::string& name, const ReplyPtr& reply) {
  if (const Status forgotten = jobs_.ForgetSetAside(name); !forgotten) {
    return reply->Fail(forgotten.error());
  }
  AddEvent(engine::Severity::kInfo, name,
           "its row that cannot be read was forgotten" + reply->RequesterText());
  wire::Reply out;
  out.mutable_job()->set_step(0);
  reply->Done(std::move(out));
}

void Registrar::OnStop(Job& job, const ReplyPtr& reply) {
  if (transactions_.Changes(job.name)) return reply->Fail(CheckIdle().error());
  if (const Status noted = jobs_.JournalEnd(job.name); !noted) {
    return reply->Fail(Error{noted.error().code,
                             fmt::format("job '{}' is not stopped, since that cannot be noted: {}",
                                         job.name, noted.error().message),
                             {}});
  }
  const std::string name = job.name;
  const std::int64_t step = job.step;
  Close(job);
  AddEvent(
      engine::Severity::kInfo, name,
      fmt::format("stopped after step {}; its memory is free{}", step, reply->RequesterText()));
  wire::Reply out;
  out.mutable_job()->set_step(step);
  reply->Done(std::move(out));
}

void Registrar::Close(Job& job) {
  pauses_.FailFor(job, Cancelled(fmt::format("job '{}' was stopped", job.name)));
  for (const ReplyPtr& waiting : {job.starting, job.restarting}) {
    if (waiting) waiting->Fail(Cancelled(fmt::format("job '{}' was stopped", job.name)));
  }
  states_.views().OnJobOver(job.name, Cancelled(fmt::format("job '{}' was stopped", job.name)));
  const std::string name = job.name;
  stops_.Stop(job, true);
  steps_.Release(job, true);
  steps_.Flush();
  states_.Forget(name);
  checkpoints_.Forget(name);
  jobs_.Erase(name);
  publisher_.MarkDirty();
}

void Registrar::OnLoadCheckpoint(const std::string& request_id,
                                 const wire::LoadCheckpointRequest& request,
                                 const ReplyPtr& reply) {
  const Result<Job*> known = jobs_.Need(request.job());
  if (!known) return reply->Fail(known.error());
  const Status may = CheckCheckpoint(config_.jobs, config_.node, request.path());
  if (!may) return reply->Fail(may.error());
  checkpoints_.Look(request.path(), [this, request_id, request,
                                     reply](const Result<checkpoint::Manifest>& manifest) {
    if (!manifest) return reply->Fail(manifest.error());
    const Result<Job*> job = jobs_.Need(request.job());
    if (!job) return reply->Fail(job.error());
    if ((*job)->state == engine::JobState::kSuspended && !request.parameters_only()) {
      const auto text = losses_.ChooseCheckpoint(**job, request.path(), *manifest, *reply);
      if (!text) return reply->Fail(text.error());
      wire::Reply out;
      out.mutable_load_checkpoint()->set_text(*text);
      return reply->Done(std::move(out));
    }
    auto state = StateFor(*manifest, request.path(), (*job)->settings, (*job)->layout.collection(),
                          request.parameters_only());
    if (!state) return reply->Fail(state.error());
    transactions_.Load(request_id, request.job(), std::move(*state), reply);
  });
}

void Registrar::OnResume(Job& job, const ReplyPtr& reply) {
  if (const Status idle = CheckIdle(); !idle) return reply->Fail(idle.error());
  if (job.state == engine::JobState::kSuspended) return restarter_.OnResume(job, reply);
  if (job.state != engine::JobState::kPaused) {
    return reply->Fail(FailedPrecondition(
        fmt::format("job '{}' is {}, not paused", job.name, ToString(job.state))));
  }
  if (job.settings.max_steps > 0 && job.step >= job.settings.max_steps) {
    return reply->Fail(FailedPrecondition(
        fmt::format("job '{}' has made all of its {} steps", job.name, job.settings.max_steps)));
  }
  if (job.finished) {
    return reply->Fail(FailedPrecondition(
        fmt::format("job '{}' has finished after step {}: its program has made all of its steps; "
                    "a checkpoint of it can begin another job (`job start --from-checkpoint`)",
                    job.name, job.step)));
  }
  job.state = engine::JobState::kRunning;
  job.reason.clear();
  job.last_step = timers_.now();
  static_cast<void>(jobs_.Journal(job));
  pauses_.Resume(job);
  AddEvent(engine::Severity::kInfo, job.name,
           fmt::format("resumed after step {}{}", job.step, reply->RequesterText()));
  wire::Reply out;
  out.mutable_job()->set_step(job.step);
  reply->Done(std::move(out));
  publisher_.MarkDirty();
}

}  // namespace tessera::agents
