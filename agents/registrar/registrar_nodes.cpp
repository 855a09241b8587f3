// SPDX-License-Identifier: Apache-2.0
// Membership of nodes and their heartbeats.
#include <fmt/format.h>

#include "agents/registrar/pending_reply.h"
#include "agents/registrar/registrar.h"
#include "engine/txn/participant.h"
#include "ptc/base/counted.h"

namespace tessera::agents {

Status Registrar::CheckDevice(ptc::DeviceId id, const std::string& job) const {
  TESSERA_RETURN_IF_ERROR(members_.CheckDevice(id, timers_.now()));
  for (const auto& [name, other] : jobs_) {
    if (name != job && other.layout.mesh().RankOf(id)) {
      return FailedPrecondition(fmt::format("device {} is in job '{}'", ToString(id), name));
    }
  }
  return OkStatus();
}

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
  ForgetChangedLinks(node);
  for (auto& [job_name, job] : jobs_) {
    (*welcome.mutable_welcome()->mutable_steps())[job_name] = job.recorded;
    job.unreported.erase(m.node());
  }
  static_cast<void>(SendTo(m.node(), welcome));
  MarkDirty();

  const std::string name = fmt::format("n{}", m.node());
  if (arrival.is_new || arrival.has_new_keeper) {
    AddEvent(engine::Severity::kInfo, name,
             fmt::format("joined with {}", Counted(std::ssize(node.devices), "GPU")));
  } else if (arrival.restarted || arrival.was_away) {
    AddEvent(
        engine::Severity::kInfo, name,
        arrival.restarted ? "the agent restarted and rejoined; its ranks continued" : "is back");
  }

  if (arrival.restarted) {
    const std::string why = "the agent of " + name + " restarted";
    views_.OnNodeGone(m.node(), why);
    snapshots_.OnNodeGone(m.node(), why, timers_.now());
  }
  snapshots_.OnHeld(m.node(), m.snapshots());

  // The state of the transaction in the journal of the node.
  if (txn_) {
    const auto state = engine::ParseParticipantState(m.transaction_state());
    const bool verified = m.transaction() == txn_->id && state &&
                          (*state == engine::ParticipantState::kVerified ||
                           *state == engine::ParticipantState::kCommitted);
    if (arrival.restarted) {
      Feed(engine::NodeRestarted{m.node(), verified});
    } else {
      Feed(engine::NodeReconnected{m.node()});
    }
  }
  if (m.transaction() != 0 && (!txn_ || m.transaction() != txn_->id)) SendPastOutcome(m.node(), m);

  // Before, nothing could be heard of the steps of its jobs: FindLostNode begins to wait now.
  if (arrival.was_away) {
    for (auto& [job_name, job] : jobs_) {
      if (NodesOf(job.layout.mesh()).contains(m.node())) job.last_step = timers_.now();
    }
  }
  ResendStops(m.node(), m.jobs());
  // Repeats to the node what it may have missed about its jobs, and fails jobs whose state it lost.
  for (auto& [job_name, job] : jobs_) {
    if (!NodesOf(job.layout.mesh()).contains(m.node())) continue;
    const wire::NodeJob* here = nullptr;
    for (const wire::NodeJob& row : m.jobs()) {
      if (row.job() == job_name) here = &row;
    }
    if (job.starting) {
      if (job.not_ready.contains(m.node())) static_cast<void>(SendTo(m.node(), StartMessage(job)));
      continue;
    }
    if (job.state == engine::JobState::kSuspended) {
      if (job.not_ready.contains(m.node())) {
        InterruptJob(job, fmt::format("{} was away while its ranks started again", name));
      } else {
        SendStop(m.node(), job.name, false);  // it may have missed that
      }
      continue;
    }
    if (!here || (txn_ && txn_->job == job_name)) continue;
    const bool wanted = operation_ && operation_->job == job_name;
    const bool runs = job.state == engine::JobState::kRunning;
    if (runs && !wanted && !here->paused()) {
      SendResume(job, m.node());  // a restarted agent may not know yet that its ranks wait
    } else {
      OnNodeJob(m.node(), job, *here);
    }
  }
}

void Registrar::OnNodeJob(std::int32_t node, Job& job, const wire::NodeJob& row) {
  const bool is_suspended = job.state == engine::JobState::kSuspended;
  if (!row.paused() || is_suspended || (txn_ && txn_->job == job.name)) return;
  const bool wanted = operation_ && operation_->job == job.name;
  if (wanted && row.request() != operation_->number) return;  // of a pause before
  const bool runs = job.state == engine::JobState::kRunning;
  if (runs && !wanted && MissedResume(job, node, row)) return SendResume(job, node);
  wire::JobPaused paused;
  paused.set_job(job.name);
  paused.set_request(row.request());
  paused.set_step(row.step());
  paused.set_reason(row.reason());
  OnJobPaused(node, paused);
}

void Registrar::RepeatMissed(const Node& node,
                             const google::protobuf::RepeatedPtrField<wire::NodeJob>& jobs) {
  ResendStops(node.number, jobs);
  for (const wire::NodeJob& row : jobs) {
    Job* const job = FindJob(row.job());
    if (!job || row.epoch() != job->epoch || !IsOn(node, *job)) continue;
    const bool waits = job->state == engine::JobState::kSuspended && job->not_ready.empty();
    if (waits && row.ranks() > 0 && !job->unreported.contains(node.number)) {
      SendStop(node.number, job->name, false);
    }
    if (!job->starting) OnNodeJob(node.number, *job, row);
  }
}

void Registrar::RepeatRequests(Clock::time_point now) {
  for (auto& [name, job] : jobs_) {
    if (!job.start_message || !job.start_repeats.IsDue(now)) continue;
    for (const std::int32_t node : job.not_ready) {
      static_cast<void>(SendTo(node, *job.start_message));
    }
  }
}

void Registrar::OnHeartbeat(Node& node, const wire::Heartbeat& m) {
  members_.NoteHeartbeat(node, m, timers_.now());
  snapshots_.OnHeld(node.number, m.snapshots());
  if (node.awaited_order == 0) {
    for (auto& [name, job] : jobs_) job.unreported.erase(node.number);
  }
  // Every node of a job reports its steps, so that a cut link of one of them hides none.
  for (const wire::NodeDevice& device : node.devices) {
    Job* job = device.job().empty() ? nullptr : FindJob(device.job());
    if (!job || device.end() <= job->heard_step) continue;
    job->heard_step = device.end();
    job->last_step = timers_.now();
  }
  MarkDirty();
  if (m.transaction() == 0) {
    ForgetStaleState(node);
    CheckHeld(node);
  }
  RepeatMissed(node, m.jobs());
  RestartJobs();
  wire::ToNode ack;
  ack.mutable_heartbeat();
  static_cast<void>(SendTo(node.number, ack));
}

void Registrar::CheckHeld(const Node& node) {
  std::map<std::string, std::string> interrupted;  // with the reason
  for (const auto& [name, job] : jobs_) {
    const bool has_ranks = job.state == engine::JobState::kRunning ||
                           job.state == engine::JobState::kPausing ||
                           job.state == engine::JobState::kPaused;
    if (!has_ranks || (txn_ && txn_->job == name)) continue;
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
  for (const auto& [name, reason] : interrupted) InterruptJob(*FindJob(name), reason);
}

void Registrar::NoteSlowRanks(Job& job) {
  std::vector<double> busy;
  for (const ptc::DeviceId id : job.layout.mesh().devices()) {
    const wire::NodeDevice* device = members_.FindDevice(id);
    const bool is_its = device && device->job() == job.name && device->epoch() == job.epoch;
    busy.push_back(is_its ? device->busy_seconds() : 0);
  }
  auto slow = engine::FindSlowRanks(job.layout.mesh(), busy, job.slow);
  const auto has = [](const std::vector<engine::SlowRank>& ranks, ptc::DeviceId device) {
    return std::any_of(ranks.begin(), ranks.end(),
                       [&](const engine::SlowRank& rank) { return rank.device == device; });
  };
  for (const engine::SlowRank& rank : slow) {
    if (has(job.slow, rank.device)) continue;
    std::vector<ptc::DeviceId> others = job.layout.mesh().devices();
    std::erase(others, rank.device);
    AddEvent(engine::Severity::kWarning, job.name,
             fmt::format("{} computes {:.2f} s per step, its peers {:.2f} s: the job waits for it; "
                         "without it: `tesseractl plan {} --devices {}`",
                         ToString(rank.device), rank.seconds, rank.peers_seconds, job.name,
                         ptc::ToString(others)));
  }
  for (const engine::SlowRank& rank : job.slow) {
    if (!has(slow, rank.device) && job.layout.mesh().RankOf(rank.device)) {
      AddEvent(engine::Severity::kInfo, job.name,
               fmt::format("{} is no longer slower than its peers", ToString(rank.device)));
    }
  }
  job.slow = std::move(slow);
}

// Ranks train on without the registrar, so silence alone is no loss. A job has lost a node if the
// node was killed, or if the node is silent and the other nodes report no step. A paused job makes
// no steps anyway.
const Registrar::Node* Registrar::FindLostNode(const Job& job, Clock::time_point now) const {
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

void Registrar::OnTick() {
  const auto now = timers_.now();
  for (const Membership::Change& change : members_.Tick(now)) {
    MarkDirty();
    if (change.state == engine::NodeState::kSuspect) {
      AddEvent(engine::Severity::kWarning, fmt::format("n{}", change.node),
               fmt::format("suspect: no heartbeat for {:.0f} s", members_.suspect_after().count()));
    } else if (change.state != engine::NodeState::kAlive) {
      OnNodeSilent(*members_.Find(change.node));
    }
  }
  std::map<std::string, std::int32_t> lost;  // InterruptJob erases a starting job from jobs_
  for (const auto& [name, job] : jobs_) {
    if (job.state == engine::JobState::kSuspended || txn_) continue;
    if (const Node* node = FindLostNode(job, now)) lost[name] = node->number;
  }
  for (const auto& [name, number] : lost) {
    InterruptJob(*FindJob(name), fmt::format("n{} was lost", number));
  }
  GiveUpStarts(now);
  for (auto& [name, job] : jobs_) {
    if (job.state == engine::JobState::kRunning) NoteSlowRanks(job);
    ConsiderSnapshot(job);
  }
  snapshots_.Tick(now);
  RestartJobs();
  if (txn_ && txn_->pause_deadline && now > *txn_->pause_deadline) {
    txn_->pause_deadline.reset();
    Feed(
        engine::PauseOverdue{fmt::format("'{}' did not reach a step boundary in time", txn_->job)});
  }
  FeedSilence();
  RepeatTxnRequests(now);
  RepeatRequests(now);
  if (operation_ && now > operation_->deadline) {
    FailOperation(
        Timeout(fmt::format("'{}' did not reach a step boundary in time", operation_->job)));
  }
  FlushSamples();
  RetainHistory();
}

void Registrar::OnNodeSilent(const Node& node) {
  const std::string text = members_.SilentText(node);
  AddEvent(engine::Severity::kError, fmt::format("n{}", node.number),
           node.killed ? "dead: its keeper was killed"
                       : fmt::format("unmanaged: silent for {} s", config_.node_lost_seconds));
  if (operation_ && operation_->waiting.contains(node.number)) FailOperation(Unavailable(text));
  views_.OnNodeGone(node.number, text);
  snapshots_.OnNodeGone(node.number, text, timers_.now());
  std::vector<std::string> lost;  // InterruptJob erases a starting job from jobs_
  for (const auto& [name, job] : jobs_) {
    if (job.not_ready.contains(node.number)) lost.push_back(name);
  }
  for (const std::string& name : lost) InterruptJob(*FindJob(name), text);
}

// A participant reads the decision, or gives up and writes `abort`.
void Registrar::OnDecide(std::int32_t node, const wire::Decide& m) {
  wire::ToNode answer;
  answer.mutable_decided()->set_job(m.job());
  answer.mutable_decided()->set_slot(m.slot());
  if (!m.value().empty()) {
    const auto wanted = engine::ParseDecision(m.value());
    if (wanted && !wanted->commit) {
      const auto held = register_.Write(m.job(), m.slot(), *wanted);
      if (held) answer.mutable_decided()->set_value(ToText(*held));
      if (held && !held->commit && txn_ && txn_->id == wanted->transaction) {
        Feed(engine::CancelRequested{fmt::format("n{} gave up waiting", node)});
      }
    }
  } else if (const auto held = DecisionOf(m.job(), m.slot(), m.transaction()); held && *held) {
    answer.mutable_decided()->set_value(ToText(**held));
  }
  static_cast<void>(SendTo(node, answer));
}

// ---- acts on nodes

void Registrar::OnKillNode(const wire::KillNodeRequest& request, const ReplyPtr& reply) {
  Node* node = members_.Find(request.node());
  if (!node) {
    return reply->Fail(NotFound(fmt::format("node n{} does not exist: the cluster has {} nodes",
                                            request.node(), members_.nodes().size())));
  }
  if (node->state == engine::NodeState::kDead) {
    return reply->Fail(FailedPrecondition(fmt::format("node n{} is dead already", request.node())));
  }
  if (request.node() == config_.node) {
    return reply->Fail(FailedPrecondition(
        fmt::format("node n{} holds the registrar: use `tesseractl down`", request.node())));
  }
  node->killed = true;
  wire::ToNode die;
  die.mutable_die()->set_clean(false);
  if (const Status sent = SendTo(request.node(), die); !sent) return reply->Fail(sent.error());
  AddEvent(engine::Severity::kWarning, fmt::format("n{}", request.node()), "killed on request");
  wire::Reply done;
  done.mutable_done();
  reply->Done(std::move(done));
}

void Registrar::OnFailDevice(const wire::FailDeviceRequest& request, const ReplyPtr& reply) {
  const auto id = Decode(request.device());
  if (!id) return reply->Fail(id.error());
  if (!members_.FindDevice(*id)) {
    return reply->Fail(NotFound(fmt::format("device {} does not exist", ToString(*id))));
  }
  wire::ToNode message;
  message.mutable_fail_device()->set_index(id->index);
  if (const Status sent = SendTo(id->node, message); !sent) return reply->Fail(sent.error());
  wire::Reply done;
  done.mutable_done();
  reply->Done(std::move(done));
}

void Registrar::OnShutdown(const ReplyPtr& reply) {
  AddEvent(engine::Severity::kInfo, "registrar", "the cluster goes down on request");
  wire::Reply done;
  done.mutable_done();
  reply->Done(std::move(done));
  FlushSamples();
  // The node of the registrar ends last, after the others have received the message.
  timers_.After(std::chrono::milliseconds(100), [this] {
    wire::ToNode die;
    die.mutable_die()->set_clean(true);
    for (const auto& [number, node] : members_.nodes()) {
      if (number != config_.node) static_cast<void>(SendTo(number, die));
    }
    timers_.After(std::chrono::milliseconds(100),
                  [this, die] { static_cast<void>(SendTo(config_.node, die)); });
  });
}

}  // namespace tessera::agents
