// SPDX-License-Identifier: Apache-2.0
// Jobs whose ranks have ended while their state is in the arenas: they are suspended, and their
// ranks are started again on that state.
#include <fmt/format.h>

#include <algorithm>

#include "agents/registrar/pending_reply.h"
#include "agents/registrar/registrar.h"
#include "ptc/base/counted.h"

namespace tessera::agents {

void Registrar::SuspendJob(Job& job, const std::string& first_reason) {
  if (job.state == engine::JobState::kSuspended && job.not_ready.empty()) return;
  std::string reason = first_reason;
  // Ranks report the broken collective earlier than the registrar misses the node.
  for (const std::int32_t number : NodesOf(job.layout.mesh())) {
    const Node* node = members_.Find(number);
    if (node && (node->killed || node->state == engine::NodeState::kUnmanaged)) {
      reason = fmt::format("n{} was lost", number);
    }
  }
  const bool was_suspended = job.state == engine::JobState::kSuspended;  // it was being started
  if (!was_suspended) {
    job.stays_paused = job.state == engine::JobState::kPaused;
    job.suspended_since = timers_.now();
  }
  job.state = engine::JobState::kSuspended;
  job.not_ready.clear();
  job.start_watch.reset();
  job.paused_nodes.clear();
  job.restarts = job.crashes.Note(job.step);
  if (!job.restarts) {
    reason +=
        fmt::format("; its ranks ended {} times within {} steps, so they are not started again",
                    CrashGuard::kMostCrashes, CrashGuard::kWithinSteps);
  }
  job.reason = reason;
  AddEvent(engine::Severity::kError, job.name,
           fmt::format("suspended after step {}: {}; its state is kept", job.step, reason));
  const Error error =
      FailedPrecondition(fmt::format("job '{}' is suspended: {}", job.name, reason));
  if (operation_ && operation_->job == job.name) FailOperation(error);
  views_.OnJobOver(job.name, error);
  if (const ReplyPtr waiting = std::exchange(job.restarting, nullptr)) waiting->Fail(error);
  StopJob(job.name, false);
  job.unreported = NodesOf(job.layout.mesh());
  job.finishes = 0;
  static_cast<void>(JournalJob(job));
  MarkDirty();
}

// A job whose devices hold one state starts again on them. If some are lost, it may continue on
// others.
void Registrar::RestartJobs() {
  for (auto& [name, job] : jobs_) {
    const bool waits = job.state == engine::JobState::kSuspended && job.not_ready.empty();
    if (!waits || !CheckIdle()) continue;
    engine::ConsistentCut cut = CutOf(job);
    job.waits_for = cut.waits_for;
    if (!cut.waits_for.empty()) continue;
    if (!cut.lost.empty() && !cut.behind.empty()) {
      FinishUpdates(job, cut);
      continue;
    }
    if (!cut.lost.empty()) {
      NoteLoss(job, std::move(cut));
      if (job.restarts) ConsiderRecovery(job);
      continue;
    }
    if (!job.restarts) continue;
    if (const Status started = RestartJob(job, cut); !started) {
      AddEvent(engine::Severity::kError, name, "not started again: " + started.error().ToString());
    }
  }
}

std::optional<std::int64_t> Registrar::RestsAt(const Job& job) const {
  if (job.state != engine::JobState::kSuspended || !job.not_ready.empty()) return std::nullopt;
  const engine::ConsistentCut cut = CutOf(job);
  if (!cut.waits_for.empty() || !cut.lost.empty() || !cut.behind.empty()) return std::nullopt;
  return cut.step;
}

// A rank makes the update of a step only after the decision of all ranks. So a device may be one
// step behind the others, with the gradients of that step in its arena: its rank then makes the
// update when it starts again.
Status Registrar::RestartJob(Job& job, const engine::ConsistentCut& cut) {
  TESSERA_TRY(job.attempt, NextNumber());
  job.device_loss.reset();
  job.waits = false;
  job.step = std::max(job.step, cut.step);
  RecordDecided(job, cut.step);
  job.not_ready = NodesOf(job.layout.mesh());
  job.start_watch.emplace(job.layout.mesh().devices(), timers_.now());
  SendStart(job, RestartMessage(job, cut));
  MarkDirty();
  return OkStatus();
}

wire::ToNode Registrar::RestartMessage(const Job& job, const engine::ConsistentCut& cut) const {
  wire::ToNode message = StartMessage(job);
  message.mutable_start_job()->set_again(true);
  message.mutable_start_job()->set_step(cut.step);
  if (cut.decision) {
    wire::StepDecision* decision = message.mutable_start_job()->mutable_decision();
    decision->set_step(cut.decision->step);
    decision->set_clip(cut.decision->clip);
    decision->set_skip(cut.decision->skip);
    decision->set_loss(cut.decision->loss);
    decision->set_norm2(cut.decision->norm2);
    decision->set_tokens(cut.decision->tokens);
  }
  return message;
}

void Registrar::OnRestarted(Job& job) {
  const std::chrono::duration<double> took = timers_.now() - *job.suspended_since;
  job.state = job.stays_paused ? engine::JobState::kPaused : engine::JobState::kRunning;
  const std::string reason = std::exchange(job.reason, {});
  job.last_step = timers_.now();
  job.usual_step_seconds = UsualStepSeconds(job);
  job.step_seconds.clear();
  static_cast<void>(JournalJob(job));
  AddEvent(engine::Severity::kWarning, job.name,
           fmt::format("started again on {} after {:.1f} s, no step lost ({})",
                       Counted(job.layout.mesh().num_ranks(), "GPU"), took.count(), reason));
  if (!job.stays_paused) ResumeJob(job);
  if (const ReplyPtr waiting = std::exchange(job.restarting, nullptr)) {
    wire::Reply out;
    out.mutable_job()->set_step(job.step);
    waiting->Done(std::move(out));
  }
}

void Registrar::OnResumeSuspended(Job& job, const ReplyPtr& reply) {
  job.crashes.Forgive();
  job.stays_paused = false;
  if (!job.not_ready.empty()) {  // it is being started
    job.restarting = reply;
    return;
  }
  job.restarts = true;
  const engine::ConsistentCut cut = CutOf(job);
  if (!cut.waits_for.empty()) {
    return reply->Fail(FailedPrecondition(
        fmt::format("job '{}' cannot be started again now: {}", job.name, cut.waits_for)));
  }
  if (!cut.lost.empty()) {
    NoteLoss(job, cut);
    const bool can = job.device_loss->status.can_continue();
    return reply->Fail(FailedPrecondition(fmt::format(
        "job '{}' cannot be started again on its GPUs: {}; {}{}", job.name,
        job.device_loss->status.reason, TextOf(*job.device_loss),
        can ? fmt::format(": `tesseractl txn decide {} continue`", job.name) : std::string())));
  }
  if (const Status idle = CheckIdle(); !idle) return reply->Fail(idle.error());
  if (const Status started = RestartJob(job, cut); !started) return reply->Fail(started.error());
  job.restarting = reply;
}

}  // namespace tessera::agents
