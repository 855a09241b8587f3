// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/restarter.h"

#include <fmt/format.h>

#include <set>
#include <utility>
#include <vector>

#include "ptc/base/counted.h"

namespace tessera::agents {
namespace {

constexpr int kMostFinishes = 3;  // then a device that stays behind counts as lost

std::string ReasonOfRefusal(const Job& job, const std::string& reason) {
  return fmt::format(
      "{}; another start would fail in the same way: correct the program, then `tesseractl job "
      "resume {}`",
      reason, job.name);
}

}  // namespace

void Restarter::Suspend(Job& job, const std::string& first_reason, RankEnd end) {
  const bool is_refusal = end == RankEnd::kRefusal;
  if (job.state == engine::JobState::kSuspended && job.not_ready.empty()) {
    if (is_refusal && job.restarts) NoteRefusal(job, first_reason);
    return;
  }
  std::string reason = first_reason;
  // Ranks report the broken collective earlier than the registrar misses the node.
  for (const std::int32_t number : NodesOf(job)) {
    const Membership::Node* node = members_.Find(number);
    if (node && (node->killed || node->state == engine::NodeState::kUnmanaged) && !is_refusal) {
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
  job.restarts = job.crashes.Note(job.step, end);
  if (is_refusal) {
    reason = ReasonOfRefusal(job, reason);
  } else if (!job.restarts) {
    reason +=
        fmt::format("; its ranks ended {} times within {} steps, so they are not started again",
                    CrashGuard::kMostCrashes, CrashGuard::kWithinSteps);
  }
  job.reason = reason;
  AddEvent(engine::Severity::kError, job.name,
           fmt::format("suspended after step {}: {}; its nodes keep what they hold of it", job.step,
                       reason));
  const Error error =
      FailedPrecondition(fmt::format("job '{}' is suspended: {}", job.name, reason));
  uses_.pauses.FailFor(job, error);
  around_.suspended(job.name, error);
  if (const ReplyPtr waiting = std::exchange(job.restarting, nullptr)) waiting->Fail(error);
  uses_.stops.Stop(job, false);
  job.unreported = NodesOf(job);
  job.finishes = 0;
  static_cast<void>(jobs_.Journal(job));
  MarkDirty();
}

void Restarter::NoteRefusal(Job& job, const std::string& reason) {
  job.restarts = false;
  job.reason = ReasonOfRefusal(job, reason);
  AddEvent(engine::Severity::kError, job.name,
           fmt::format("still suspended after step {}: {}", job.step, job.reason));
  static_cast<void>(jobs_.Journal(job));
  MarkDirty();
}

// A job whose devices hold one state starts again on them. If some are lost, it may continue on
// others.
void Restarter::RestartJobs() {
  for (auto& [name, job] : jobs_) {
    const bool waits = job.state == engine::JobState::kSuspended && job.not_ready.empty();
    if (!waits || !around_.check_idle()) continue;
    if (const Status explained = jobs_.CheckExplained(name); !explained) {
      job.waits_for = explained.error().message;
      continue;
    }
    engine::ConsistentCut cut = CutOf(job);
    job.waits_for = cut.waits_for;
    if (!cut.waits_for.empty()) continue;
    if (!cut.lost.empty() && !cut.behind.empty()) {
      FinishUpdates(job, cut);
      continue;
    }
    if (!cut.lost.empty() || job.remains) {
      uses_.losses.Note(job, std::move(cut));
      if (job.restarts) uses_.losses.Consider(job);
      continue;
    }
    if (!job.restarts) {
      job.device_loss.reset();
      uses_.returns.Consider(job, cut);
      continue;
    }
    if (const Status started = Restart(job, cut); !started) {
      AddEvent(engine::Severity::kError, name, "not started again: " + started.error().ToString());
    }
  }
}

void Restarter::RestartJobsSoon() {
  const bool waits = std::any_of(jobs_.begin(), jobs_.end(), [](const auto& entry) {
    return entry.second.state == engine::JobState::kSuspended;
  });
  if (!waits || std::exchange(is_posted_, true)) return;
  timers_.Post([this] {
    is_posted_ = false;
    RestartJobs();
  });
}

std::optional<std::int64_t> Restarter::RestsAt(const Job& job) const {
  if (job.state != engine::JobState::kSuspended || !job.not_ready.empty()) return std::nullopt;
  engine::ConsistentCut cut = CutOf(job);
  // If all lack the same update, they hold one state: the next ranks make that step again.
  if (!cut.behind.empty()) cut = CutOf(job, false);
  if (!cut.waits_for.empty() || !cut.lost.empty()) return std::nullopt;
  if (job.remains) return std::nullopt;  // what shows it knows one layout
  return cut.step;
}

// A rank makes the update of a step only after the decision of all ranks. So a device may be one
// step behind the others, with the gradients of that step in its arena: its rank then makes the
// update when it starts again.
Status Restarter::Restart(Job& job, const engine::ConsistentCut& cut) {
  TESSERA_TRY(job.attempt, uses_.numbers.Next());
  job.device_loss.reset();
  job.waits = false;
  job.step = std::max(job.step, cut.step);
  uses_.steps.RecordDecided(job, cut.step);
  job.not_ready = NodesOf(job.layout.mesh());
  job.start_watch.emplace(job.layout.mesh().devices(), timers_.now());
  uses_.sender.Send(job, MessageOf(job, cut));
  MarkDirty();
  return OkStatus();
}

wire::ToNode Restarter::MessageOf(const Job& job, const engine::ConsistentCut& cut) const {
  wire::ToNode message = uses_.sender.MessageOf(job);
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

void Restarter::OnRestarted(Job& job) {
  const std::chrono::duration<double> took = timers_.now() - *job.suspended_since;
  job.state = job.stays_paused ? engine::JobState::kPaused : engine::JobState::kRunning;
  const std::string reason = std::exchange(job.reason, {});
  job.last_step = timers_.now();
  job.usual_step_seconds = UsualStepSeconds(job);
  job.step_seconds.clear();
  static_cast<void>(jobs_.Journal(job));
  AddEvent(engine::Severity::kWarning, job.name,
           fmt::format("started again on {} after {:.1f} s, no step lost ({})",
                       Counted(job.layout.mesh().num_ranks(), "GPU"), took.count(), reason));
  if (!job.stays_paused) uses_.pauses.Resume(job);
  if (const ReplyPtr waiting = std::exchange(job.restarting, nullptr)) {
    wire::Reply out;
    out.mutable_job()->set_step(job.step);
    waiting->Done(std::move(out));
  }
}

void Restarter::OnResume(Job& job, const ReplyPtr& reply) {
  if (const Status explained = jobs_.CheckExplained(job.name); !explained) {
    return reply->Fail(explained.error());
  }
  job.crashes.Forgive();
  job.has_tried_return = false;
  job.stays_paused = job.finished;
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
  if (!cut.lost.empty() || job.remains) {
    uses_.losses.Note(job, cut);
    const bool can = job.device_loss->can_continue();
    return reply->Fail(FailedPrecondition(fmt::format(
        "job '{}' cannot be started again on its GPUs: {}; {}{}", job.name,
        cut.lost.empty() ? job.reason : engine::ReasonOf(cut.lost),
        LossDesk::TextOf(*job.device_loss),
        can ? fmt::format(": `tesseractl txn decide {} continue`", job.name) : std::string())));
  }
  if (const Status idle = around_.check_idle(); !idle) return reply->Fail(idle.error());
  if (const Status started = Restart(job, cut); !started) return reply->Fail(started.error());
  job.restarting = reply;
}

engine::ConsistentCut Restarter::CutOf(const Job& job, bool makes_updates) const {
  using State = engine::HeldState;
  std::vector<State> states;
  for (const ptc::DeviceId id : HeldDevices(job)) {
    State& s = states.emplace_back();
    s.device = id;
    const Membership::Node* node = members_.Find(id.node);
    if (!node) continue;
    switch (node->state) {
      case engine::NodeState::kAlive: {
        // It has come back, and has missed how a change has ended.
        const bool is_unsettled =
            node->transaction != 0 && node->transaction != around_.running_transaction();
        s.node = is_unsettled                       ? State::Node::kUnsettled
                 : job.unreported.contains(id.node) ? State::Node::kSilent
                                                    : State::Node::kThere;
        break;
      }
      case engine::NodeState::kJoining:
      case engine::NodeState::kSuspect:
        s.node = State::Node::kSilent;
        break;
      case engine::NodeState::kUnmanaged:
      case engine::NodeState::kDead:
      case engine::NodeState::kLeft:
        s.node = State::Node::kGone;
        break;
    }
    const wire::NodeDevice* device = members_.FindDevice(id);
    if (!device) continue;
    s.holds_state = device->job() == job.name && device->epoch() == job.epoch;
    s.failed = device->failed();
    s.has_rank = device->has_rank();
    s.begin = device->begin();
    s.end = device->end();
    s.grads_step = device->grads_step();
    const wire::StepDecision& decision = device->decision();
    s.decision = {decision.step(), decision.clip(),  decision.skip(),
                  decision.loss(), decision.norm2(), decision.tokens()};
  }
  // With ZeRO, ranks also gather parameters from each other.
  const bool makes_it_alone =
      job.settings.program ? job.settings.program->finishes_updates : !job.options.zero;
  const bool can_follow = makes_updates && makes_it_alone && job.finishes < kMostFinishes;
  return engine::FindConsistentCut(states, can_follow);
}

void Restarter::FinishUpdates(Job& job, const engine::ConsistentCut& cut) {
  ++job.finishes;
  wire::ToNode message;
  auto* finish = message.mutable_finish_update();
  *finish->mutable_job() = MessageOf(job, cut).start_job();
  std::set<std::int32_t> nodes;
  for (const ptc::DeviceId device : cut.behind) {
    Encode(device, finish->add_devices());
    nodes.insert(device.node);
  }
  AddEvent(engine::Severity::kInfo, job.name,
           fmt::format("the update of step {} is made on {} first", cut.step,
                       Counted(std::ssize(cut.behind), "GPU")));
  finish->set_order(++last_order_);
  for (const std::int32_t node : nodes) {
    members_.Find(node)->awaited_order = last_order_;
    members_.Find(node)->ordered = timers_.now();
    static_cast<void>(SendTo(node, message));
  }
  job.unreported.merge(nodes);
}

}  // namespace tessera::agents
