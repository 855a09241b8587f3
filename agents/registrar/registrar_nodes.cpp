// SPDX-License-Identifier: Apache-2.0
// Nodes that come, report and go, and what that means for jobs.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "agents/registrar/registrar.h"
#include "ptc/base/counted.h"

namespace tessera::agents {
namespace {
/// Nodes that hear nothing for 15 s take the registrar for gone.
constexpr auto kAcknowledgePeriod = std::chrono::seconds(8);
}  // namespace

void Registrar::OnRegister(const std::string& identity, const wire::Register& m) {
  wire::ToNode welcome;
  welcome.mutable_welcome()->set_cluster(config_.cluster);
  if (m.major() != kProtocolMajor || m.minor() != kProtocolMinor) {
    welcome.mutable_welcome()->set_error(
        fmt::format("protocol {}.{} of n{} is not {}.{} of the registrar", m.major(), m.minor(),
                    m.node(), kProtocolMajor, kProtocolMinor));
    static_cast<void>(world_.send(identity, welcome));
    AddEvent(engine::Severity::kError, fmt::format("n{}", m.node()), welcome.welcome().error());
    return;
  }
  const Membership::Arrival arrival = members_.Register(identity, m, timers_.now());
  Node& node = *members_.Find(m.node());
  links_.ForgetChanged(node);
  for (auto& [job_name, job] : jobs_) {
    (*welcome.mutable_welcome()->mutable_steps())[job_name] = job.recorded;
    job.unreported.erase(m.node());
  }
  static_cast<void>(common_.Send(m.node(), welcome));
  publisher_.MarkDirty();

  const std::string name = fmt::format("n{}", m.node());
  if (arrival.is_new || arrival.has_new_keeper) {
    AddNodeEvent(engine::Severity::kInfo, node,
                 fmt::format("joined with {}", Counted(std::ssize(node.devices), "GPU")));
    CompareDrivers(node);
  } else if (arrival.restarted || arrival.was_away) {
    AddNodeEvent(
        engine::Severity::kInfo, node,
        arrival.restarted ? "the agent restarted and rejoined; its ranks continued" : "is back");
  }

  if (arrival.restarted) {
    states_.OnNodeGone(m.node(), "the agent of " + name + " restarted");
    checkpoints_.OnNodeGone(m.node(), "the agent of " + name + " restarted");
  }
  jobs_.NoteHeld(node);
  states_.snapshots().OnHeld(m.node(), m.snapshots());

  transactions_.OnRegister(m, arrival.restarted);

  // Before, nothing could be heard of the steps of its jobs: FindLostNode begins to wait now.
  if (arrival.was_away) {
    for (auto& [job_name, job] : jobs_) {
      if (HasNode(job, m.node())) job.last_step = timers_.now();
    }
  }
  RepeatToArrival(m);
}

void Registrar::RepeatToArrival(const wire::Register& m) {
  const std::string name = fmt::format("n{}", m.node());
  stops_.Resend(m.node(), m.jobs());
  // Repeats to the node what it may have missed about its jobs, and fails jobs whose state it lost.
  for (auto& [job_name, job] : jobs_) {
    if (!HasNode(job, m.node())) continue;
    if (!job.starting && !jobs_.CheckExplained(job_name)) continue;  // its row is old
    const wire::NodeJob* here = nullptr;
    for (const wire::NodeJob& row : m.jobs()) {
      if (row.job() == job_name) here = &row;
    }
    if (job.starting) {
      if (job.not_ready.contains(m.node())) {
        static_cast<void>(common_.Send(m.node(), sender_.MessageOf(job)));
      }
      continue;
    }
    if (job.state == engine::JobState::kSuspended) {
      if (job.not_ready.contains(m.node())) {
        InterruptJob(job, fmt::format("{} was away while its ranks started again", name));
      } else {
        stops_.EndRanks(m.node(), job);  // it may have missed that
      }
      continue;
    }
    // A node of an earlier epoch still has to follow the outcome of its transaction.
    if (!here || here->epoch() != job.epoch || transactions_.Changes(job_name)) continue;
    const bool wanted = pauses_.IsFor(job);
    const bool runs = job.state == engine::JobState::kRunning;
    if (runs && !wanted && !here->paused()) {
      pauses_.SendResume(job, m.node());  // a restarted agent may not know yet that its ranks wait
    } else {
      pauses_.OnNodeJob(m.node(), job, *here);
    }
  }
}

void Registrar::OnCannotRun(std::int32_t number, const std::string& reason) {
  if (!members_.NoteProblem(number, reason, timers_.now())) return;
  publisher_.MarkDirty();
  if (!event_limits_.Admit(number, timers_.now())) return;
  AddNodeEvent(engine::Severity::kError, *members_.Find(number), reason);
}

void Registrar::OnHeartbeat(Node& node, const wire::Heartbeat& m) {
  if (!Membership::Fits(node, m)) return;
  members_.NoteHeartbeat(node, m, timers_.now());
  jobs_.NoteHeld(node);
  states_.snapshots().OnHeld(node.number, m.snapshots());
  if (node.awaited_order == 0) {
    for (auto& [name, job] : jobs_) job.unreported.erase(node.number);
  }
  // Every node of a job reports its steps, so that a cut link of one of them hides none.
  for (const wire::NodeDevice& device : node.devices) {
    Job* job = device.job().empty() ? nullptr : jobs_.Find(device.job());
    if (!job || device.end() <= job->heard_step) continue;
    if (!job->layout.mesh().RankOf({node.number, device.index()})) continue;
    job->heard_step = device.end();
    job->last_step = timers_.now();
  }
  if (members_.has_changed()) publisher_.MarkDirty();
  if (m.transaction() == 0) {
    ForgetStaleState(node);
    CheckHeld(node);
  }
  RepeatMissed(node, m.jobs());
  restarter_.RestartJobsSoon();
  // It only has to hear something in time.
  if (timers_.now() - node.last_sent < kAcknowledgePeriod) return;
  wire::ToNode ack;
  ack.mutable_heartbeat()->set_beat_seconds(members_.beat().count());
  static_cast<void>(common_.Send(node.number, ack));
}

void Registrar::RepeatMissed(const Node& node,
                             const google::protobuf::RepeatedPtrField<wire::NodeJob>& jobs) {
  stops_.Resend(node.number, jobs);
  for (const wire::NodeJob& row : jobs) {
    Job* const job = jobs_.Find(row.job());
    if (!job || row.epoch() != job->epoch || !IsOn(node, *job)) continue;
    const bool waits = job->state == engine::JobState::kSuspended && job->not_ready.empty();
    if (waits && row.ranks() > 0 && !job->unreported.contains(node.number)) {
      stops_.EndRanks(node.number, *job);
    }
    if (!job->starting) pauses_.OnNodeJob(node.number, *job, row);
  }
}

void Registrar::CheckHeld(const Node& node) {
  std::map<std::string, std::string> interrupted;  // with the reason
  for (const auto& [name, job] : jobs_) {
    const bool has_ranks = job.state == engine::JobState::kRunning ||
                           job.state == engine::JobState::kPausing ||
                           job.state == engine::JobState::kPaused;
    if (!has_ranks || transactions_.Changes(name)) continue;
    for (const wire::NodeDevice& device : node.devices) {
      const ptc::DeviceId id{node.number, device.index()};
      if (!job.layout.mesh().RankOf(id)) continue;
      if (device.job() != name || device.epoch() != job.epoch) {
        interrupted[name] = ToString(id) + " has lost the state of this job";
      } else if (!device.has_rank()) {
        interrupted.try_emplace(name, "the rank on " + ToString(id) + " has ended");
      }
    }
  }
  for (const auto& [name, reason] : interrupted) InterruptJob(*jobs_.Find(name), reason);
}

// State moves between them all the same. NCCL, by which programs compute, may not connect.
void Registrar::CompareDrivers(const Node& node) {
  if (node.gpu_driver.empty()) return;
  for (const auto& [number, other] : members_.nodes()) {
    if (other.state == engine::NodeState::kDead || other.gpu_driver.empty() ||
        other.gpu_driver == node.gpu_driver) {
      continue;
    }
    AddNodeEvent(engine::Severity::kWarning, node,
                 fmt::format("its GPUs have {}, those of n{} have {}: programs whose ranks are on "
                             "both may not connect",
                             node.gpu_driver, number, other.gpu_driver));
    return;
  }
}

// A node that comes back after its job has continued without it, or has ended, holds state of an
// earlier epoch, or of an earlier job with this name. What the table does not explain is kept.
void Registrar::ForgetStaleState(Node& node) {
  std::set<std::string> stale;
  for (wire::NodeDevice& device : node.devices) {
    if (device.job().empty() || jobs_.ClaimOf(node, device) != JobTable::Claim::kStale) continue;
    stale.insert(device.job());
    device.clear_job();
  }
  for (const std::string& name : stale) {
    const Job* const job = jobs_.Find(name);
    const auto reported = node.origins.find(name);
    const std::uint64_t origin = reported == node.origins.end() ? 0 : reported->second;
    const bool is_over = jobs_.HasEnded(name, origin);
    AddEvent(engine::Severity::kInfo, fmt::format("n{}", node.number),
             fmt::format("frees what it holds of '{}', which {}", name,
                         is_over ? "has ended" : "runs without it"));
    const JobStops::Extent extent =
        is_over ? JobStops::Extent{.origin = origin}
                : JobStops::Extent{.origin = origin, .below_epoch = job->epoch + 1};
    stops_.Free(node.number, name, extent);
  }
}

void Registrar::OnTick() {
  const auto now = timers_.now();
  lease_.OnTick();
  for (const Membership::Change& change : members_.Tick(now)) {
    publisher_.MarkDirty();
    if (change.state == engine::NodeState::kSuspect) {
      AddNodeEvent(
          engine::Severity::kWarning, *members_.Find(change.node),
          fmt::format("suspect: no heartbeat for {:.0f} s", members_.suspect_after().count()));
    } else if (change.state != engine::NodeState::kAlive) {
      OnNodeSilent(*members_.Find(change.node));
    }
  }
  if (members_.has_changed()) publisher_.MarkDirty();
  std::map<std::string, std::int32_t> lost;  // InterruptJob erases a starting job from jobs_
  for (const auto& [name, job] : jobs_) {
    if (job.state == engine::JobState::kSuspended || transactions_.running()) continue;
    if (const Node* node = FindLostNode(job, now)) lost[name] = node->number;
  }
  for (const auto& [name, number] : lost) {
    InterruptJob(*jobs_.Find(name), fmt::format("n{} was lost", number));
  }
  openings_.GiveUp(now);
  starter_.Tick(now);
  transactions_.GiveUp(now);
  for (auto& [name, job] : jobs_) {
    if (job.state == engine::JobState::kRunning) slow_ranks_.Note(job);
    states_.ConsiderSnapshot(job);
    checkpoints_.Consider(job);
  }
  states_.snapshots().Tick(now);
  checkpoints_.Tick();
  restarter_.RestartJobs();
  transactions_.Tick(now);
  sender_.Repeat(now);
  pauses_.Tick(now);
  steps_.Flush();
  steps_.Retain();
}

// Ranks train on without the registrar, so silence alone is no loss. A job has lost a node if the
// node was killed, or if the node is silent and the other nodes report no step. A paused job makes
// no steps anyway.
const Membership::Node* Registrar::FindLostNode(const Job& job, Clock::time_point now) const {
  const Node* silent = nullptr;
  bool heard = false;
  for (const std::int32_t number : NodesOf(job.layout.mesh())) {
    const Node* node = members_.Find(number);
    if (!node) continue;
    if (node->state == engine::NodeState::kDead) return node;
    if (node->state == engine::NodeState::kUnmanaged) silent = node;
    if (node->state == engine::NodeState::kAlive) heard = true;
  }
  if (!silent || !heard || job.state != engine::JobState::kRunning) return nullptr;
  const auto patience = std::max(std::chrono::duration<double>(config_.node_lost_seconds),
                                 std::chrono::duration<double>(5 * UsualStepSeconds(job)));
  return now - job.last_step > patience ? silent : nullptr;
}

void Registrar::OnNodeSilent(const Node& node) {
  const std::string text = members_.SilentText(node);
  if (node.state == engine::NodeState::kDead) {
    jobs_.ForgetHeld(node.number);
    if (world_.node_given_up) world_.node_given_up(node.number);
  }
  AddNodeEvent(engine::Severity::kError, node,
               node.killed ? "dead: it was killed or given up"
                           : fmt::format("unmanaged: silent for {} s", config_.node_lost_seconds));
  pauses_.OnNodeSilent(node.number, Unavailable(text));
  states_.OnNodeGone(node.number, text);
  checkpoints_.OnNodeGone(node.number, text);
  std::vector<std::string> lost;  // InterruptJob erases a starting job from jobs_
  for (const auto& [name, job] : jobs_) {
    if (job.not_ready.contains(node.number)) lost.push_back(name);
  }
  for (const std::string& name : lost) InterruptJob(*jobs_.Find(name), text);
}

void Registrar::OnRankExited(std::int32_t node, const wire::RankExited& m) {
  wire::ToNode noted;
  noted.mutable_exit_noted()->set_pid(m.pid());
  static_cast<void>(common_.Send(node, noted));
  const auto device = Decode(m.device());
  if (!device || device->node != node) return;
  Job* job = jobs_.Find(m.job());
  if (job && m.attempt() < job->attempt) return;
  const bool is_of_job = job && job->layout.mesh().RankOf(*device);
  if (transactions_.Changes(m.job())) {
    const bool joins = transactions_.running()->planned.to.mesh().RankOf(*device).has_value();
    if (is_of_job || joins) transactions_.OnRankLost(node, *device, m);
    return;
  }
  // A rank exits after it has left the layout.
  if (!is_of_job || m.joining()) return;
  // A rank of an earlier job with this name, on a node that missed its end.
  if (job->starting && m.start() != job->start) return;
  InterruptJob(*job, m.reason(), m.refused() ? RankEnd::kRefusal : RankEnd::kCrash);
}

void Registrar::OnRankLoad(std::int32_t node, const wire::RankLoad& m) {
  Job* job = jobs_.Find(m.job());
  const auto rank = Decode(m.device());
  if (!job || !rank || rank->node != node) return;
  const RankLoading loading{m.done(), m.total()};
  if (transactions_.Changes(job->name)) return transactions_.OnRankLoad(*rank, loading);
  if (!job->start_watch) return;
  job->start_watch->Note(*rank, loading, timers_.now());
  publisher_.MarkDirty();
}

void Registrar::InterruptJob(Job& job, const std::string& reason, RankEnd end) {
  if (job.state == engine::JobState::kFailed) return;
  if (job.starting || job.lost_start) return starter_.Fail(job, reason);
  // A node has a later epoch: what the table says about ranks and layout is old.
  if (!jobs_.CheckExplained(job.name)) return;
  restarter_.Suspend(job, reason, end);
}

}  // namespace tessera::agents
