// SPDX-License-Identifier: Apache-2.0
// The job table: pausing, digesting, resuming and stopping jobs.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "agents/node/job_row.h"
#include "agents/registrar/pending_reply.h"
#include "agents/registrar/registrar.h"
#include "engine/store/arena_format.h"
#include "ptc/base/counted.h"
#include "ptc/base/median.h"

namespace tessera::agents {
namespace {
constexpr auto kTick = std::chrono::seconds(1);
constexpr auto kPublishPeriod = std::chrono::milliseconds(100);
}  // namespace

Registrar::Job* Registrar::FindJob(const std::string& name) {
  const auto it = jobs_.find(name);
  return it == jobs_.end() ? nullptr : &it->second;
}

Result<Registrar::Job*> Registrar::NeedJob(const std::string& name) {
  if (Job* job = FindJob(name)) return job;
  TESSERA_RETURN_IF_ERROR(CheckNotOpening(name));
  std::string known;
  for (const auto& [other, job] : jobs_) known += (known.empty() ? "" : ", ") + other;
  return NotFound(fmt::format("job '{}' does not exist: {}", name,
                              known.empty() ? "there are no jobs" : "there is " + known));
}

std::set<std::int32_t> Registrar::NodesOf(const ptc::DeviceMesh& mesh,
                                          const std::vector<ptc::DeviceId>& lost) {
  std::set<std::int32_t> out;
  for (const ptc::DeviceId device : mesh.devices()) {
    if (std::find(lost.begin(), lost.end(), device) == lost.end()) out.insert(device.node);
  }
  return out;
}

bool Registrar::IsOn(const Node& node, const Job& job) {
  return std::any_of(node.devices.begin(), node.devices.end(), [&](const wire::NodeDevice& device) {
    return job.layout.mesh().RankOf({node.number, device.index()}).has_value();
  });
}

Status Registrar::JournalJob(const Job& job) {
  const JobTableRow row{{engine::ToJson(job.settings), job.layout, job.epoch, job.timeline},
                        job.options,
                        job.slot,
                        job.state,
                        job.reason,
                        job.step,
                        job.on_failure,
                        job.stays_paused,
                        job.restarts,
                        job.attempt,
                        job.waits,
                        UsualStepSeconds(job),
                        job.snapshots};
  Status put = journal_.Put("job/" + job.name, ToText(row));
  if (!put) AddEvent(engine::Severity::kError, "registrar", "journal: " + put.error().ToString());
  return put;
}

Status Registrar::Recover() {
  TESSERA_TRY(const auto rows, journal_.List("job/"));
  for (const auto& [key, text] : rows) {
    TESSERA_TRY(JobTableRow row, ParseJobTableRow(key, text));
    TESSERA_TRY(engine::JobSettings settings, engine::ParseJobSettings(row.job.settings));
    Job job(key.substr(4), std::move(settings), std::move(row.job.layout));
    job.epoch = row.job.epoch;
    job.timeline = row.job.timeline;
    job.options = row.options;
    job.slot = row.slot;
    job.state = row.state;
    job.reason = row.reason;
    job.step = row.step;
    job.on_failure = row.on_failure;
    job.stays_paused = row.stays_paused;
    job.restarts = row.restarts;
    job.attempt = row.attempt;
    job.last_step = timers_.now();
    job.suspended_since = timers_.now();
    job.unreported = NodesOf(job.layout.mesh());
    job.waits = row.waits;
    job.usual_step_seconds = row.usual_step_seconds;
    job.snapshots = row.snapshots;
    if (job.state == engine::JobState::kStarting) {
      job.state = engine::JobState::kFailed;
      job.reason = "the registrar's agent restarted while it started";
    }
    DescribeJournaledData(job);
    for (const std::int32_t node : NodesOf(job.layout.mesh())) members_.Expect(node, timers_.now());
    jobs_.emplace(job.name, std::move(job));
  }
  TESSERA_RETURN_IF_ERROR(snapshots_.Recover());
  TESSERA_RETURN_IF_ERROR(RecoverSteps());
  TESSERA_RETURN_IF_ERROR(RecoverCalibration());
  TESSERA_RETURN_IF_ERROR(RecoverLinks());
  TESSERA_RETURN_IF_ERROR(RecoverTxn());
  periodic_ = {timers_.Every(kTick, [this] { OnTick(); }),
               timers_.Every(kPublishPeriod, [this] { publisher_.Tick(timers_.now()); })};
  return OkStatus();
}

Result<std::int64_t> Registrar::UpcomingNumber() {
  TESSERA_TRY(const std::optional<std::string> row, journal_.Get("next_number"));
  const auto first = static_cast<std::int64_t>(engine::kFirstTransaction);
  return row ? std::max<std::int64_t>(first, std::strtoll(row->c_str(), nullptr, 10)) : first;
}

Result<std::int64_t> Registrar::NextNumber() {
  TESSERA_TRY(const std::int64_t number, UpcomingNumber());
  TESSERA_RETURN_IF_ERROR(journal_.Put("next_number", std::to_string(number + 1)));
  return number;
}

Status Registrar::CheckIdle() const {
  if (txn_) {
    return FailedPrecondition(fmt::format("transaction {} of '{}' is {}: wait for it or cancel it",
                                          txn_->id, txn_->job, ToString(txn_->run->phase())));
  }
  if (operation_) {
    return FailedPrecondition(
        fmt::format("'{}' is being {}: wait for it", operation_->job,
                    operation_->kind == JobOperation::Kind::kPause ? "paused" : "digested"));
  }
  return OkStatus();
}

void Registrar::OnJobReady(std::int32_t node, const wire::JobReady& m) {
  Job* job = FindJob(m.job());
  if (!job || !job->not_ready.contains(node)) return;
  if (!m.ok()) return InterruptJob(*job, m.reason());
  job->not_ready.erase(node);
  if (job->start_watch) job->start_watch->NodeReady(node);
  if (!job->not_ready.empty()) return MarkDirty();
  rendezvous_.Forget(job->name, job->epoch, job->attempt);
  job->start_watch.reset();
  job->start_message.reset();
  MarkDirty();
  if (!job->starting) return OnRestarted(*job);
  job->state = engine::JobState::kRunning;
  job->last_step = timers_.now();
  static_cast<void>(JournalJob(*job));
  AddEvent(engine::Severity::kInfo, job->name,
           fmt::format("training on {}", Counted(job->layout.mesh().num_ranks(), "GPU")));
  ResumeJob(*job);
  wire::Reply out;
  out.mutable_start_job()->set_job(job->name);
  out.mutable_start_job()->set_note(job->start_note);
  job->starting->Done(std::move(out));
  job->starting.reset();
}

// ---- pause, digest, resume, stop

std::optional<double> Registrar::MedianStepSeconds(const Job& job) {
  constexpr std::size_t kFewest = 3;  // the first step includes the pause before it
  if (job.step_seconds.size() < kFewest) return std::nullopt;
  return UpperMedian({job.step_seconds.begin(), job.step_seconds.end()});
}

double Registrar::UsualStepSeconds(const Job& job) {
  return MedianStepSeconds(job).value_or(job.usual_step_seconds);
}

std::chrono::milliseconds Registrar::PauseDeadline(const Job& job, std::int64_t at_step) const {
  const double median = UsualStepSeconds(job);
  const auto ahead = static_cast<double>(std::max<std::int64_t>(0, at_step - job.step));
  constexpr double kLongest = 1e9;  // 31 years, so that the number of milliseconds fits
  const double wanted = std::max(30.0, 10 * median) + 5 * median * ahead;
  const double seconds = wanted < kLongest ? wanted : kLongest;
  return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

void Registrar::OnJobRequest(const wire::JobRequest& request, const ReplyPtr& reply) {
  if (StopOpening(request, reply)) return;
  const Result<Job*> found = NeedJob(request.job());
  if (!found) return reply->Fail(found.error());
  Job& job = **found;
  if (request.act() == wire::JobRequest::STOP) {
    if (txn_ && txn_->job == job.name) return reply->Fail(CheckIdle().error());
    if (operation_ && operation_->job == job.name) {
      FailOperation(Cancelled(fmt::format("job '{}' was stopped", job.name)));
    }
    wire::Reply out;
    out.mutable_job()->set_step(job.step);
    for (const ReplyPtr& waiting : {job.starting, job.restarting}) {
      if (waiting) waiting->Fail(Cancelled(fmt::format("job '{}' was stopped", job.name)));
    }
    views_.OnJobOver(job.name, Cancelled(fmt::format("job '{}' was stopped", job.name)));
    const std::string name = job.name;
    StopJob(name, true);
    static_cast<void>(journal_.Erase("job/" + name));
    ReleaseSamples(job, true);
    FlushSamples();
    AddEvent(engine::Severity::kInfo, name,
             fmt::format("stopped after step {}; its memory is free{}", job.step,
                         reply->RequesterText()));
    snapshots_.Forget(name);
    jobs_.erase(name);
    MarkDirty();
    return reply->Done(std::move(out));
  }
  if (request.act() == wire::JobRequest::PAUSE) {
    return BeginOperation(JobOperation::Kind::kPause, job, reply);
  }
  if (const Status idle = CheckIdle(); !idle) return reply->Fail(idle.error());
  if (job.state == engine::JobState::kSuspended) return OnResumeSuspended(job, reply);
  if (job.state != engine::JobState::kPaused) {
    return reply->Fail(FailedPrecondition(
        fmt::format("job '{}' is {}, not paused", job.name, ToString(job.state))));
  }
  if (job.settings.max_steps > 0 && job.step >= job.settings.max_steps) {
    return reply->Fail(FailedPrecondition(
        fmt::format("job '{}' has made all of its {} steps", job.name, job.settings.max_steps)));
  }
  job.state = engine::JobState::kRunning;
  job.reason.clear();
  job.last_step = timers_.now();
  static_cast<void>(JournalJob(job));
  ResumeJob(job);
  AddEvent(engine::Severity::kInfo, job.name,
           fmt::format("resumed after step {}{}", job.step, reply->RequesterText()));
  wire::Reply out;
  out.mutable_job()->set_step(job.step);
  reply->Done(std::move(out));
  MarkDirty();
}

void Registrar::BeginOperation(JobOperation::Kind kind, Job& job, const ReplyPtr& reply) {
  if (const Status idle = CheckIdle(); !idle) return reply->Fail(idle.error());
  const auto rests_at = kind == JobOperation::Kind::kDigest ? RestsAt(job) : std::nullopt;
  const bool paused = job.state == engine::JobState::kPaused || rests_at;
  if (!paused && job.state != engine::JobState::kRunning) {
    return reply->Fail(
        FailedPrecondition(fmt::format("job '{}' is {}{}", job.name, ToString(job.state),
                                       job.reason.empty() ? "" : ": " + job.reason)));
  }
  if (kind == JobOperation::Kind::kPause && paused) {
    return reply->Fail(FailedPrecondition(
        fmt::format("job '{}' is paused already, after step {}", job.name, job.step)));
  }
  const Result<std::int64_t> number = NextNumber();
  if (!number) return reply->Fail(number.error());
  JobOperation op;
  op.kind = kind;
  op.job = job.name;
  op.number = static_cast<std::uint64_t>(*number);
  op.was_paused = paused;
  op.step = rests_at.value_or(job.step);
  op.reply = reply;
  op.waiting = NodesOf(job.layout.mesh());
  op.deadline = timers_.now() + PauseDeadline(job, 0);
  operation_ = std::move(op);
  if (!paused) {
    job.state = engine::JobState::kPausing;
    MarkDirty();
  }
  wire::ToNode message;
  if (paused) {
    operation_->digesting = true;
    message.mutable_take_digests()->set_job(job.name);
    message.mutable_take_digests()->set_number(operation_->number);
  } else {
    message.mutable_pause_job()->set_job(job.name);
    message.mutable_pause_job()->set_number(operation_->number);
  }
  for (const std::int32_t node : NodesOf(job.layout.mesh())) {
    if (const Status sent = SendTo(node, message); !sent) return FailOperation(sent.error());
  }
}

void Registrar::OnJobPaused(std::int32_t node, const wire::JobPaused& m) {
  Job* job = FindJob(m.job());
  if (!job || job->state == engine::JobState::kSuspended) return;
  job->paused_nodes[node] = {m.step(), m.request(), m.reason()};
  if (operation_ && operation_->job == job->name && !operation_->digesting) {
    operation_->waiting.erase(node);
    operation_->step = m.step();
    if (!operation_->waiting.empty()) return;
    job->step = m.step();
    if (operation_->kind == JobOperation::Kind::kPause) {
      job->state = engine::JobState::kPaused;
      job->reason = DataProblem(*job);
      static_cast<void>(JournalJob(*job));
      AddEvent(engine::Severity::kInfo, job->name,
               fmt::format("paused after step {}{}", m.step(), operation_->reply->RequesterText()));
      return EndOperation();
    }
    operation_->digesting = true;
    operation_->waiting = NodesOf(job->layout.mesh());
    operation_->deadline = timers_.now() + std::chrono::seconds(60);
    wire::ToNode message;
    message.mutable_take_digests()->set_job(job->name);
    message.mutable_take_digests()->set_number(operation_->number);
    for (const std::int32_t to : NodesOf(job->layout.mesh())) {
      if (const Status sent = SendTo(to, message); !sent) return FailOperation(sent.error());
    }
    return;
  }
  MarkPausedIfAllStopped(*job);
}

std::string Registrar::DataProblem(const Job& job) {
  bool waits = false;
  for (const auto& [node, row] : job.paused_nodes) {
    if (row.request != engine::kRequestNoData) continue;
    waits = true;
    if (!row.reason.empty()) return "data: " + row.reason;
  }
  return waits ? "data: a rank cannot read its samples" : "";
}

void Registrar::MarkPausedIfAllStopped(Job& job) {
  const bool is_asked =
      (operation_ && operation_->job == job.name) || (txn_ && txn_->job == job.name);
  if (is_asked || job.state != engine::JobState::kRunning || job.paused_nodes.empty() ||
      job.paused_nodes.size() != NodesOf(job.layout.mesh()).size()) {
    return;
  }
  const Job::PausedNode& first = job.paused_nodes.begin()->second;
  for (const auto& [node, row] : job.paused_nodes) {
    if (row.step != first.step || row.request != first.request) return;
  }
  if (first.request == engine::kRequestStepsDone) {
    job.reason = job.settings.program
                     ? "its program has made all of its steps"
                     : fmt::format("all {} steps are made", job.settings.max_steps);
    AddEvent(engine::Severity::kInfo, job.name, job.reason + "; its state is kept");
  } else if (first.request == engine::kRequestNoData) {
    job.reason = DataProblem(job);
    AddEvent(
        engine::Severity::kError, job.name,
        fmt::format("paused after step {}: {}; `job resume` tries again", first.step, job.reason));
  } else {
    return;
  }
  job.state = engine::JobState::kPaused;
  job.step = first.step;
  static_cast<void>(JournalJob(job));
  MarkDirty();
}

void Registrar::OnDigests(std::int32_t node, const wire::DigestsReport& m) {
  if (!operation_ || operation_->number != m.number() || !operation_->digesting) return;
  if (!m.error().empty()) {
    return FailOperation(Internal(fmt::format("n{}: {}", node, m.error())));
  }
  for (const wire::CellDigests& row : m.devices()) {
    const auto device = Decode(row.device());
    if (!device) return FailOperation(device.error());
    operation_->digests.push_back({*device, {row.digests().begin(), row.digests().end()}});
  }
  operation_->waiting.erase(node);
  if (!operation_->waiting.empty()) return;
  Job* job = FindJob(m.job());
  if (!job) return FailOperation(NotFound(fmt::format("job '{}' is gone", m.job())));
  const auto digest = CombineDigests(job->layout.collection(), FindCells(job->layout, job->layout),
                                     CellSide::kHolders, operation_->digests);
  if (!digest) return FailOperation(digest.error());
  wire::Reply out;
  auto* reply = out.mutable_digest();
  reply->set_job(job->name);
  reply->set_epoch(job->epoch);
  reply->set_timeline(job->timeline);
  reply->set_step(operation_->step);
  reply->set_digest(ptc::Hex16(digest->digest));
  const auto& tensors = job->layout.collection().tensors();
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    (*reply->mutable_tensors())[tensors[i].name] = ptc::Hex16(digest->tensors[i]);
  }
  operation_->reply->Done(std::move(out));
  EndOperation();
}

// Answers a pause request. Resumes a job that was paused only for its digest.
void Registrar::EndOperation() {
  const JobOperation op = std::move(*operation_);
  operation_.reset();
  MarkDirty();
  if (op.kind == JobOperation::Kind::kPause && !op.reply->done()) {
    wire::Reply out;
    out.mutable_job()->set_step(op.step);
    op.reply->Done(std::move(out));
  }
  ResumeAfter(op);
}

void Registrar::FailOperation(const Error& error) {
  const JobOperation op = std::move(*operation_);
  operation_.reset();
  MarkDirty();
  op.reply->Fail(error);
  ResumeAfter(op);
}

// Resumes a job that was paused only for this operation. A paused job stays paused.
void Registrar::ResumeAfter(const JobOperation& op) {
  Job* job = FindJob(op.job);
  if (!job || op.was_paused || job->state != engine::JobState::kPausing) return;
  job->state = engine::JobState::kRunning;
  job->last_step = timers_.now();
  ResumeJob(*job);
}

// Idempotent: nodes clear the request word and resume ranks that wait for an earlier number.
void Registrar::ResumeJob(Job& job) {
  job.resumed = std::exchange(job.paused_nodes, {});
  for (const std::int32_t node : NodesOf(job.layout.mesh())) SendResume(job, node);
}

void Registrar::SendResume(const Job& job, std::int32_t node) {
  // Without a number, only the ranks that already wait resume.
  const std::int64_t upcoming = UpcomingNumber().value_or(1);
  wire::ToNode message;
  message.mutable_resume_job()->set_job(job.name);
  message.mutable_resume_job()->set_through(static_cast<std::uint64_t>(upcoming - 1));
  static_cast<void>(SendTo(node, message));
}

// Ranks that wait for a request of the registrar missed the resume. Ranks that wait for their data
// missed it only if they waited at the same step when they were resumed.
bool Registrar::MissedResume(const Job& job, std::int32_t node, const wire::NodeJob& row) {
  if (row.request() == engine::kRequestStepsDone) return false;
  if (row.request() != engine::kRequestNoData) return true;
  const auto resumed = job.resumed.find(node);
  return resumed != job.resumed.end() && resumed->second.step == row.step();
}

void Registrar::SendStop(std::int32_t node, const std::string& job, bool forget) {
  wire::ToNode message;
  message.mutable_stop_job()->set_job(job);
  message.mutable_stop_job()->set_forget(forget);
  static_cast<void>(SendTo(node, message));
}

void Registrar::StopJob(const std::string& name, bool forget) {
  for (const auto& [number, node] : members_.nodes()) SendStop(number, name, forget);
  rendezvous_.Forget(name);
  if (forget) ended_.insert(name);
}

// Only jobs that this registrar ended. A node may hold the only copy of the state of a job that
// this registrar does not know.
void Registrar::ResendStops(std::int32_t node,
                            const google::protobuf::RepeatedPtrField<wire::NodeJob>& jobs) {
  for (const wire::NodeJob& row : jobs) {
    if (jobs_.contains(row.job()) || !ended_.contains(row.job())) continue;
    SendStop(node, row.job(), true);
  }
}

void Registrar::InterruptJob(Job& job, const std::string& reason) {
  if (job.state == engine::JobState::kFailed) return;
  if (job.starting) return FailStart(job, reason);
  SuspendJob(job, reason);
}

// The job has made no step: nothing of it is kept, and its name is free again.
void Registrar::FailStart(Job& job, const std::string& reason) {
  const std::string name = job.name;
  AddEvent(engine::Severity::kError, name, "failed: " + reason);
  job.starting->Fail(FailedPrecondition(fmt::format("job '{}' did not start: {}", name, reason)));
  StopJob(name, true);
  static_cast<void>(journal_.Erase("job/" + name));
  snapshots_.Forget(name);
  jobs_.erase(name);
  MarkDirty();
}

void Registrar::OnRankExited(std::int32_t node, const wire::RankExited& m) {
  wire::ToNode noted;
  noted.mutable_exit_noted()->set_pid(m.pid());
  static_cast<void>(SendTo(node, noted));
  const auto device = Decode(m.device());
  if (!device) return;
  Job* job = FindJob(m.job());
  if (job && m.attempt() < job->attempt) return;
  if (txn_ && txn_->job == m.job()) {
    txn_->lost_ranks[*device] = m.reason();
    return Feed(engine::RankLost{node, m.joining(), m.reason()});
  }
  // A rank exits after it has left the layout.
  if (!job || m.joining() || !job->layout.mesh().RankOf(*device)) return;
  // A rank of an earlier job with this name, on a node that missed its end.
  if (job->starting && m.start() != job->start) return;
  InterruptJob(*job, m.reason());
}

}  // namespace tessera::agents
