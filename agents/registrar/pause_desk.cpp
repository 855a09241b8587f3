// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/pause_desk.h"

#include <fmt/format.h>

#include <utility>

#include "engine/store/arena_format.h"
#include "ptc/base/counted.h"

namespace tessera::agents {

void PauseDesk::Begin(Kind kind, Job& job, const ReplyPtr& reply) {
  if (const Status idle = around_.check_idle(); !idle) return reply->Fail(idle.error());
  const auto rests_at = kind == Kind::kDigest ? around_.rests_at(job) : std::nullopt;
  const bool paused = job.state == engine::JobState::kPaused || rests_at;
  if (!paused && job.state != engine::JobState::kRunning) {
    return reply->Fail(
        FailedPrecondition(fmt::format("job '{}' is {}{}", job.name, ToString(job.state),
                                       job.reason.empty() ? "" : ": " + job.reason)));
  }
  if (kind == Kind::kPause && paused) {
    return reply->Fail(FailedPrecondition(
        fmt::format("job '{}' is paused already, after step {}", job.name, job.step)));
  }
  const Result<std::int64_t> number = numbers_.Next();
  if (!number) return reply->Fail(number.error());
  Operation op;
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
    job.gap.reset();  // the job does not go on by itself
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
    if (const Status sent = SendTo(node, message); !sent) return Fail(sent.error());
  }
}

void PauseDesk::OnJobPaused(std::int32_t node, const wire::JobPaused& m) {
  Job* job = jobs_.Find(m.job());
  if (!job || job->state == engine::JobState::kSuspended) return;
  if (!job->layout.mesh().HasNode(node)) return;
  job->paused_nodes[node] = {m.step(), m.request(), m.reason()};
  if (operation_ && operation_->job == job->name && !operation_->digesting) {
    operation_->waiting.erase(node);
    operation_->step = m.step();
    if (!operation_->waiting.empty()) return;
    job->step = m.step();
    if (operation_->kind == Kind::kPause) {
      job->state = engine::JobState::kPaused;
      NoteEnd(*job);
      static_cast<void>(jobs_.Journal(*job));
      AddEvent(engine::Severity::kInfo, job->name,
               fmt::format("paused after step {}{}", m.step(), operation_->reply->RequesterText()));
      return End();
    }
    operation_->digesting = true;
    operation_->waiting = NodesOf(job->layout.mesh());
    operation_->deadline = timers_.now() + std::chrono::seconds(60);
    wire::ToNode message;
    message.mutable_take_digests()->set_job(job->name);
    message.mutable_take_digests()->set_number(operation_->number);
    for (const std::int32_t to : NodesOf(job->layout.mesh())) {
      if (const Status sent = SendTo(to, message); !sent) return Fail(sent.error());
    }
    return;
  }
  MarkPausedIfAllStopped(*job);
}

void PauseDesk::NoteEnd(Job& job) {
  const bool is_end = std::ranges::all_of(job.paused_nodes, [](const auto& entry) {
    return entry.second.request == engine::kRequestStepsDone;
  });
  if (!is_end) {
    job.reason = DataProblem(job);
    return;
  }
  job.reason = job.settings.program ? "its program has made all of its steps"
                                    : fmt::format("all {} steps are made", job.settings.max_steps);
  job.finished = job.settings.program.has_value();
}

void PauseDesk::MarkPausedIfAllStopped(Job& job) {
  const bool is_asked = (operation_ && operation_->job == job.name) || around_.is_changing(job);
  if (is_asked || job.state != engine::JobState::kRunning || job.paused_nodes.empty() ||
      job.paused_nodes.size() != NodesOf(job.layout.mesh()).size()) {
    return;
  }
  const Job::PausedNode& first = job.paused_nodes.begin()->second;
  for (const auto& [node, row] : job.paused_nodes) {
    if (row.step != first.step || row.request != first.request) return;
  }
  if (first.request == engine::kRequestStepsDone) {
    NoteEnd(job);
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
  static_cast<void>(jobs_.Journal(job));
  MarkDirty();
}

void PauseDesk::OnDigests(std::int32_t node, const wire::DigestsReport& m) {
  if (!operation_ || operation_->number != m.number() || !operation_->digesting) return;
  if (!operation_->waiting.contains(node)) return;
  if (!m.error().empty()) {
    return Fail(Internal(fmt::format("n{}: {}", node, m.error())));
  }
  for (const wire::CellDigests& row : m.devices()) {
    const auto device = Decode(row.device());
    if (!device) return Fail(device.error());
    if (device->node != node) {
      return Fail(DataLoss(fmt::format("n{} reports digests of {}", node, ToString(*device))));
    }
    operation_->digests.push_back({*device, {row.digests().begin(), row.digests().end()}});
  }
  operation_->waiting.erase(node);
  if (!operation_->waiting.empty()) return;
  Job* job = jobs_.Find(m.job());
  if (!job) return Fail(NotFound(fmt::format("job '{}' is gone", m.job())));
  const auto digest = CombineDigests(job->layout.collection(), FindCells(job->layout, job->layout),
                                     CellSide::kHolders, operation_->digests);
  if (!digest) return Fail(digest.error());
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
  End();
}

// Answers a pause request. Resumes a job that was paused only for its digest.
void PauseDesk::End() {
  const Operation op = std::move(*operation_);
  operation_.reset();
  MarkDirty();
  if (op.kind == Kind::kPause && !op.reply->done()) {
    wire::Reply out;
    out.mutable_job()->set_step(op.step);
    op.reply->Done(std::move(out));
  }
  ResumeAfter(op);
}

void PauseDesk::Fail(const Error& error) {
  const Operation op = std::move(*operation_);
  operation_.reset();
  MarkDirty();
  op.reply->Fail(error);
  ResumeAfter(op);
}

// Resumes a job that was paused only for this operation. A paused job stays paused.
void PauseDesk::ResumeAfter(const Operation& op) {
  Job* job = jobs_.Find(op.job);
  if (!job || op.was_paused || job->state != engine::JobState::kPausing) return;
  job->state = engine::JobState::kRunning;
  job->last_step = timers_.now();
  Resume(*job);
}

// Idempotent: nodes clear the request word and resume ranks that wait for an earlier number.
void PauseDesk::Resume(Job& job) {
  job.resumed = std::exchange(job.paused_nodes, {});
  for (const std::int32_t node : NodesOf(job.layout.mesh())) SendResume(job, node);
}

void PauseDesk::SendResume(const Job& job, std::int32_t node) {
  // Without a number, only the ranks that already wait resume.
  const std::int64_t upcoming = numbers_.Upcoming().value_or(1);
  wire::ToNode message;
  message.mutable_resume_job()->set_job(job.name);
  message.mutable_resume_job()->set_through(static_cast<std::uint64_t>(upcoming - 1));
  static_cast<void>(SendTo(node, message));
}

// Ranks that wait for a request of the registrar missed the resume. Ranks that wait for their data
// missed it only if they waited at the same step when they were resumed.
bool PauseDesk::MissedResume(const Job& job, std::int32_t node, const wire::NodeJob& row) {
  if (row.request() == engine::kRequestStepsDone) return false;
  if (row.request() != engine::kRequestNoData) return true;
  const auto resumed = job.resumed.find(node);
  return resumed != job.resumed.end() && resumed->second.step == row.step();
}

void PauseDesk::OnNodeJob(std::int32_t node, Job& job, const wire::NodeJob& row) {
  const bool is_suspended = job.state == engine::JobState::kSuspended;
  if (!row.paused() || is_suspended || around_.is_changing(job)) return;
  const bool wanted = operation_ && operation_->job == job.name;
  const bool is_end = row.request() == engine::kRequestStepsDone;
  if (wanted && row.request() != operation_->number && !is_end) return;  // of a pause before
  const bool runs = job.state == engine::JobState::kRunning;
  if (runs && !wanted && MissedResume(job, node, row)) return SendResume(job, node);
  wire::JobPaused paused;
  paused.set_job(job.name);
  paused.set_request(row.request());
  paused.set_step(row.step());
  paused.set_reason(row.reason());
  OnJobPaused(node, paused);
}

Status PauseDesk::CheckIdle() const {
  if (!operation_) return OkStatus();
  return FailedPrecondition(fmt::format("'{}' is being {}: wait for it", operation_->job,
                                        operation_->kind == Kind::kPause ? "paused" : "digested"));
}

void PauseDesk::FailFor(const Job& job, const Error& error) {
  if (IsFor(job)) Fail(error);
}

void PauseDesk::OnNodeSilent(std::int32_t node, const Error& error) {
  if (operation_ && operation_->waiting.contains(node)) Fail(error);
}

void PauseDesk::Tick(Clock::time_point now) {
  if (!operation_ || now <= operation_->deadline) return;
  Fail(Timeout(fmt::format("'{}' did not reach a step boundary in time", operation_->job)));
}

}  // namespace tessera::agents
