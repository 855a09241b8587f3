// SPDX-License-Identifier: Apache-2.0
// Jobs whose ranks have ended while their state is in the arenas: they are suspended, and their
// ranks are started again on that state.
#include <fmt/format.h>

#include "agents/registrar/pending_reply.h"
#include "agents/registrar/registrar.h"
#include "ptc/base/counted.h"

namespace tessera::agents {

void Registrar::SuspendJob(Job& job, const std::string& first_reason) {
  if (job.state == engine::JobState::kSuspended && job.not_ready.empty()) return;
  std::string reason = first_reason;
  // Ranks report the broken collective earlier than the registrar misses the node.
  for (const std::int32_t number : NodesOf(job.layout)) {
    const Node* node = FindNode(number);
    if (node && (node->killed || node->state == engine::NodeState::kUnmanaged)) {
      reason = fmt::format("n{} was lost", number);
    }
  }
  const bool was_suspended = job.state == engine::JobState::kSuspended;  // it was being started
  if (!was_suspended) {
    job.stays_paused = job.state == engine::JobState::kPaused;
    job.suspended_since = Clock::now();
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
  // What the nodes reported before is no proof that the ranks have ended.
  for (auto& [number, node] : nodes_) {
    for (wire::NodeDevice& device : node.devices) {
      if (device.job() == job.name) device.set_has_rank(true);
    }
  }
  static_cast<void>(JournalJob(job));
  MarkDirty();
}

Result<std::int64_t> Registrar::CheckRestart(const Job& job) const {
  std::optional<std::pair<ptc::DeviceId, std::int64_t>> first;
  for (const ptc::DeviceId id : job.layout.mesh().devices()) {
    const auto node = nodes_.find(id.node);
    if (node == nodes_.end() || node->second.state != engine::NodeState::kAlive) {
      return FailedPrecondition(fmt::format("n{} is not there", id.node));
    }
    const wire::NodeDevice* device = FindDevice(id);
    if (!device || device->job() != job.name || device->epoch() != job.epoch) {
      return FailedPrecondition(fmt::format("{} no longer holds the state", ToString(id)));
    }
    if (device->failed()) return FailedPrecondition(fmt::format("{} failed", ToString(id)));
    if (device->has_rank()) {
      return FailedPrecondition(fmt::format("the rank on {} is still ending", ToString(id)));
    }
    if (device->begin() != device->end()) {
      return FailedPrecondition(
          fmt::format("{} holds half of the update of step {}", ToString(id), device->begin()));
    }
    if (!first) first.emplace(id, device->end());
    if (device->end() != first->second) {
      return FailedPrecondition(fmt::format("{} is after step {}, {} after step {}",
                                            ToString(first->first), first->second, ToString(id),
                                            device->end()));
    }
  }
  return first->second;
}

void Registrar::RestartJobs() {
  for (auto& [name, job] : jobs_) {
    const bool waits = job.state == engine::JobState::kSuspended && job.not_ready.empty();
    if (!waits || !job.restarts || !CheckIdle()) continue;
    const auto step = CheckRestart(job);
    job.waits_for = step ? std::string() : step.error().message;
    if (!step) continue;
    if (const Status started = RestartJob(job, *step); !started) {
      AddEvent(engine::Severity::kError, name, "not started again: " + started.error().ToString());
    }
  }
}

Status Registrar::RestartJob(Job& job, std::int64_t step) {
  TESSERA_TRY(job.attempt, NextNumber());
  job.step = std::max(job.step, step);
  job.not_ready = NodesOf(job.layout);
  job.start_watch.emplace(job.layout.mesh().devices(), Clock::now());
  wire::ToNode message = StartMessage(job);
  message.mutable_start_job()->set_again(true);
  message.mutable_start_job()->set_step(step);
  for (const std::int32_t node : job.not_ready) static_cast<void>(SendTo(node, message));
  MarkDirty();
  return OkStatus();
}

void Registrar::OnRestarted(Job& job) {
  const std::chrono::duration<double> took = Clock::now() - *job.suspended_since;
  job.state = job.stays_paused ? engine::JobState::kPaused : engine::JobState::kRunning;
  const std::string reason = std::exchange(job.reason, {});
  job.last_step = Clock::now();
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
  const auto step = CheckRestart(job);
  if (!step) {
    job.restarts = true;  // as soon as that is over
    return reply->Fail(FailedPrecondition(
        fmt::format("job '{}' cannot be started again now: {}", job.name, step.error().message)));
  }
  if (const Status started = RestartJob(job, *step); !started) return reply->Fail(started.error());
  job.restarting = reply;
}

}  // namespace tessera::agents
