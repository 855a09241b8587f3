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

// A rank makes the update of a step only after the decision of all ranks. So a device may be one
// step behind the others, with the gradients of that step in its arena: its rank then makes the
// update when it starts again. The update is elementwise, so it needs nothing else, except with
// ZeRO, where ranks also gather parameters.
Result<Registrar::Cut> Registrar::CheckRestart(const Job& job) const {
  Cut cut;
  std::vector<const wire::NodeDevice*> rows;
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
    cut.step = std::max({cut.step, device->end(), device->decision().step()});
    rows.push_back(device);
  }
  for (const wire::NodeDevice* device : rows) {
    if (device->decision().step() == cut.step) cut.decision = device->decision();
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i]->end() == cut.step) continue;
    const bool can_follow = rows[i]->end() + 1 == cut.step && cut.decision &&
                            rows[i]->grads_step() == cut.step && !job.options.zero &&
                            !job.settings.program;
    if (can_follow) continue;
    return FailedPrecondition(fmt::format("{} is after step {}, others after step {}",
                                          ToString(job.layout.mesh().devices()[i]), rows[i]->end(),
                                          cut.step));
  }
  return cut;
}

void Registrar::RestartJobs() {
  for (auto& [name, job] : jobs_) {
    const bool waits = job.state == engine::JobState::kSuspended && job.not_ready.empty();
    if (!waits || !job.restarts || !CheckIdle()) continue;
    const auto cut = CheckRestart(job);
    job.waits_for = cut ? std::string() : cut.error().message;
    if (!cut) continue;
    if (const Status started = RestartJob(job, *cut); !started) {
      AddEvent(engine::Severity::kError, name, "not started again: " + started.error().ToString());
    }
  }
}

Status Registrar::RestartJob(Job& job, const Cut& cut) {
  TESSERA_TRY(job.attempt, NextNumber());
  job.step = std::max(job.step, cut.step);
  job.not_ready = NodesOf(job.layout);
  job.start_watch.emplace(job.layout.mesh().devices(), Clock::now());
  wire::ToNode message = StartMessage(job);
  message.mutable_start_job()->set_again(true);
  message.mutable_start_job()->set_step(cut.step);
  if (cut.decision) *message.mutable_start_job()->mutable_decision() = *cut.decision;
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
  const auto cut = CheckRestart(job);
  if (!cut) {
    job.restarts = true;  // as soon as that is over
    return reply->Fail(FailedPrecondition(
        fmt::format("job '{}' cannot be started again now: {}", job.name, cut.error().message)));
  }
  if (const Status started = RestartJob(job, *cut); !started) return reply->Fail(started.error());
  job.restarting = reply;
}

}  // namespace tessera::agents
