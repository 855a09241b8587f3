// SPDX-License-Identifier: Apache-2.0
// The messages that the registrar receives, and what it publishes.
#include "agents/registrar/registrar.h"

#include <fmt/format.h>

#include <algorithm>

#include "agents/registrar/history_answers.h"
#include "agents/registrar/pending_reply.h"

namespace tessera::agents {
namespace {
constexpr std::size_t kMaxReplies = 2000;
constexpr std::size_t kMaxClients = 2000;
constexpr char kProgram[] = "tessera-agent " TESSERA_VERSION;

/// "tesseractl, user@host", for events and the history.
std::string RequesterOf(const wire::Hello& hello) {
  const std::string program = hello.program().substr(0, hello.program().find(' '));
  if (hello.user().empty()) return program;
  return program.empty() ? hello.user() : program + ", " + hello.user();
}

}  // namespace

Registrar::Registrar(Timers& timers, const AgentConfig& config, World world)
    : timers_(timers),
      config_(config),
      world_(std::move(world)),
      journal_(world_.journal),
      history_(world_.history),
      publisher_(WorldOfPublisher(), history_),
      register_(journal_),
      members_(std::chrono::seconds(config.node_lost_seconds)),
      node_queries_(timers, [this](std::int32_t node,
                                   const wire::ToNode& message) { return SendTo(node, message); }),
      views_(timers, WorldOfViews(), {.lease = std::chrono::seconds(config.view_lease_seconds)}),
      snapshots_(WorldOfSnapshots()),
      rendezvous_([this](std::int32_t node, const wire::ToNode& message) {
        static_cast<void>(SendTo(node, message));
      }) {}

Registrar::~Registrar() {
  for (const Timers::TimerId timer : periodic_) timers_.Cancel(timer);
}

// ---- messages

void Registrar::OnMalformed(std::size_t frames) {
  AddEvent(engine::Severity::kWarning, "registrar",
           fmt::format("dropped a malformed message of {} frames", frames));
}

Status Registrar::SendTo(std::int32_t node, const wire::ToNode& message) {
  const Node* to = members_.Find(node);
  if (!to || to->identity.empty()) {
    return Unavailable(fmt::format("n{} is not connected", node));
  }
  return world_.send(to->identity, message).Context(fmt::format("n{}", node));
}

void Registrar::OnRequest(const std::string& identity, const wire::Request& request) {
  const bool is_act = request.has_start_job() || request.has_job() || request.has_apply() ||
                      request.has_cancel() || request.has_fail_device() ||
                      request.has_kill_node() || request.has_shutdown() || request.has_digest() ||
                      request.has_probe() || request.has_decision() ||
                      (request.has_topology() && request.topology().measure());
  ReplyPtr reply;
  if (is_act && !request.id().empty()) {
    if (const auto known = replies_.find(request.id()); known != replies_.end()) {
      known->second->Join(identity, request.sequence());
      return;
    }
  }
  const auto client = clients_.find(identity);
  reply = std::make_shared<PendingReply>(
      request.id(), client == clients_.end() ? std::string() : client->second,
      [this](const std::string& to, const wire::Reply& out) { world_.reply(to, out); });
  reply->Join(identity, request.sequence());
  if (is_act && !request.id().empty()) {
    replies_[request.id()] = reply;
    reply_order_.push_back(request.id());
    if (reply_order_.size() > kMaxReplies) {
      replies_.erase(reply_order_.front());
      reply_order_.pop_front();
    }
  }

  wire::Reply out;
  switch (request.body_case()) {
    case wire::Request::kHello:
      return OnHello(identity, request.hello(), reply);
    case wire::Request::kStatus:
      Encode(Snapshot(), out.mutable_status());
      return reply->Done(std::move(out));
    case wire::Request::kStartJob:
      return OnStartJob(request.start_job(), reply);
    case wire::Request::kJob:
      return OnJobRequest(request.job(), reply);
    case wire::Request::kPlan:
      return OnPlan(request.plan(), reply);
    case wire::Request::kApply:
      return OnApply(request.id(), request.apply(), reply);
    case wire::Request::kTxn:
      return OnTxnRequest(request.txn(), reply);
    case wire::Request::kCancel:
      return OnCancel(request.cancel(), reply);
    case wire::Request::kDigest: {
      const Result<Job*> job = NeedJob(request.digest().job());
      if (!job) return reply->Fail(job.error());
      return BeginOperation(JobOperation::Kind::kDigest, **job, reply);
    }
    case wire::Request::kHistory:
    case wire::Request::kSamples:
    case wire::Request::kEvents:
    case wire::Request::kChanges:
      return OnHistory(request, reply);
    case wire::Request::kFailDevice:
      return OnFailDevice(request.fail_device(), reply);
    case wire::Request::kKillNode:
      return OnKillNode(request.kill_node(), reply);
    case wire::Request::kShutdown:
      return OnShutdown(reply);
    case wire::Request::kPropose:
      return OnPropose(request.propose(), reply);
    case wire::Request::kProbe:
      return OnProbe(request.probe(), reply);
    case wire::Request::kTopology:
      return OnTopology(request.topology(), reply);
    case wire::Request::kDoctor:
      return OnDoctor(reply);
    case wire::Request::kLog:
      return OnLog(request.log(), reply);
    case wire::Request::kJobs:
      return OnJobs(reply);
    case wire::Request::kView:
      return OnView(request.id(), request.view(), reply);
    case wire::Request::kHandIn:
      return OnHandIn(request.id(), request.hand_in(), reply);
    case wire::Request::kDecision:
      return OnDecision(request.decision(), reply);
    case wire::Request::kKeepViews: {
      wire::ToNode keep;
      *keep.mutable_keep_views() = request.keep_views();
      return ForwardToAll(keep, reply, views_.Keep(request.keep_views()));
    }
    case wire::Request::kReleaseViews: {
      views_.Release(request.release_views());
      wire::ToNode release;
      *release.mutable_release_views() = request.release_views();
      return ForwardToAll(release, reply);
    }
    case wire::Request::BODY_NOT_SET:
      return reply->Fail(InvalidArgument("the request has no body that this program knows"));
  }
}

void Registrar::OnHistory(const wire::Request& request, const ReplyPtr& reply) {
  FlushSamples();
  Compute([this, request] { return AnswerFromHistory(world_.reader, request); },
          [reply](Result<wire::Reply> answer) {
            if (!answer) return reply->Fail(answer.error());
            reply->Done(std::move(*answer));
          });
}

void Registrar::OnHello(const std::string& identity, const wire::Hello& hello,
                        const ReplyPtr& reply) {
  if (!hello.cluster().empty() && hello.cluster() != config_.cluster) {
    return reply->Fail(
        FailedPrecondition(fmt::format("this is cluster '{}', but the profile names cluster '{}'",
                                       config_.cluster, hello.cluster())));
  }
  if (clients_.insert_or_assign(identity, RequesterOf(hello)).second) {
    client_order_.push_back(identity);
    if (client_order_.size() > kMaxClients) {
      clients_.erase(client_order_.front());
      client_order_.pop_front();
    }
  }
  wire::Reply out;
  out.mutable_hello()->set_major(kProtocolMajor);
  out.mutable_hello()->set_minor(kProtocolMinor);
  out.mutable_hello()->set_cluster(config_.cluster);
  out.mutable_hello()->set_node(config_.node);
  out.mutable_hello()->set_registrar(true);
  out.mutable_hello()->set_program(kProgram);
  reply->Done(std::move(out));
}

void Registrar::OnNode(const std::string& identity, const wire::FromNode& m) {
  if (m.has_register_()) return OnRegister(identity, m.register_());
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
      return OnStep(m.step());
    case wire::FromNode::kJobReady:
      return OnJobReady(m.node(), m.job_ready());
    case wire::FromNode::kJobPaused:
      return OnJobPaused(m.node(), m.job_paused());
    case wire::FromNode::kDigests:
      return OnDigests(m.node(), m.digests());
    case wire::FromNode::kTxn:
      return OnTxnReport(m.node(), m.txn());
    case wire::FromNode::kProgress:
      return OnTxnProgress(m.node(), m.progress());
    case wire::FromNode::kEvent: {
      const auto severity = m.event().severity();
      AddEvent(severity <= static_cast<std::uint32_t>(engine::Severity::kError)
                   ? static_cast<engine::Severity>(severity)
                   : engine::Severity::kInfo,
               m.event().source(), m.event().text());
      return;
    }
    case wire::FromNode::kStoreSet:
      return rendezvous_.Set(m.store_set());
    case wire::FromNode::kStoreGet:
      return rendezvous_.Get(m.node(), m.store_get());
    case wire::FromNode::kDecide:
      return OnDecide(m.node(), m.decide());
    case wire::FromNode::kAnswer:
      return node_queries_.OnAnswer(m.node(), m.answer());
    case wire::FromNode::kView:
      return views_.OnReport(m.node(), m.view());
    case wire::FromNode::kSnapshot:
      return snapshots_.OnReport(m.node(), m.snapshot(), timers_.now());
    case wire::FromNode::kRegister:
    case wire::FromNode::BODY_NOT_SET:
      return;
  }
}

// ---- publishing

Publisher::World Registrar::WorldOfPublisher() {
  Publisher::World world;
  world.send = world_.publish;
  world.print = world_.print;
  world.snapshot = [this] { return Snapshot(); };
  world.wall_clock = world_.wall_clock;
  return world;
}

void Registrar::AddEvent(engine::Severity severity, const std::string& source,
                         const std::string& text) {
  publisher_.AddEvent(severity, source, text);
}

engine::TxnStatus Registrar::TxnStatusNow() const {
  engine::TxnStatus out;
  const Txn& txn = *txn_;
  out.id = txn.id;
  out.job = txn.job;
  out.phase = txn.run->phase();
  out.from_mesh = txn.planned.summary.from_mesh;
  out.to_mesh = txn.planned.summary.to_mesh;
  out.from_devices = txn.planned.summary.from_devices;
  out.to_devices = txn.planned.summary.to_devices;
  out.from_options = txn.planned.summary.from_options;
  out.to_options = txn.planned.summary.to_options;
  out.bytes_total = txn.planned.plan.bytes.moved();
  out.bytes_done = txn.count.bytes();
  out.flows = txn.count.flows();
  if (out.phase == engine::TxnPhase::kTransferring) out.eta = txn.progress.Eta(timers_.now());
  out.paused = txn.paused_since
                   ? std::chrono::duration<double>(timers_.now() - *txn.paused_since).count()
                   : txn.pause;
  out.checksums_equal = txn.checksums_equal;
  out.reason = txn.start_watch ? txn.start_watch->Text() : txn.run->machine().reason();
  out.can_cancel = txn.run->machine().can_cancel();
  return out;
}

engine::ClusterSnapshot Registrar::Snapshot() const {
  engine::ClusterSnapshot out;
  out.cluster = config_.cluster;
  out.sequence = static_cast<std::int64_t>(publisher_.sequence());
  out.link_bytes_per_second = static_cast<double>(config_.link_bytes_per_second);
  std::set<std::string> hosts;
  for (const auto& [number, node] : members_.nodes()) {
    if (node.incarnation != 0) hosts.insert(node.peer.host());
    engine::NodeStatus row;
    row.node = number;
    row.state = node.state;
    row.host = node.peer.host();
    row.address = node.peer.address();
    row.version = node.version;
    row.view_bytes = std::max<std::int64_t>(node.view_bytes, 0);
    row.last_seen = std::chrono::duration<double>(timers_.now() - node.last_seen).count();
    for (const wire::NodeDevice& device : node.devices) {
      engine::DeviceStatus d;
      d.id = {number, device.index()};
      d.used_bytes = device.used();
      d.total_bytes = device.capacity();
      d.failed = device.failed();
      for (const auto& [name, job] : jobs_) {
        if (const auto rank = job.layout.mesh().RankOf(d.id)) {
          d.job = name;
          d.rank = *rank;
          const engine::Holding& holding = job.Holdings()[static_cast<std::size_t>(*rank)];
          d.pieces = holding.pieces;
          d.parameter_bytes = holding.parameter_bytes;
          d.optimizer_bytes = holding.optimizer_bytes;
          d.busy_seconds = device.busy_seconds();
          for (const engine::SlowRank& slow : job.slow) {
            if (slow.device == d.id) d.peers_seconds = slow.peers_seconds;
          }
        }
      }
      if (txn_ && !d.rank && txn_->planned.to.mesh().RankOf(d.id)) {
        d.job = txn_->job;
        d.rank = txn_->planned.to.mesh().RankOf(d.id);
        d.joining = true;
      }
      row.devices.push_back(std::move(d));
    }
    out.nodes.push_back(std::move(row));
  }
  out.one_host = hosts.size() == 1 && members_.nodes().size() > 1;
  out.history_problem = publisher_.problem();
  for (const auto& [name, job] : jobs_) {
    engine::JobStatus row;
    row.name = name;
    row.model = job.settings.model.name;
    row.state = job.state;
    row.on_failure = job.on_failure;
    row.decision = DecisionStatusOf(job);
    row.snapshots = snapshots_.StatusOf(name);
    row.snapshots.every = job.snapshots;
    if (row.decision && row.decision->can_continue() && !row.decision->chosen) {
      row.state = engine::JobState::kWaitingDecision;
    }
    row.reason = job.starting && job.start_watch ? job.start_watch->Text() : job.reason;
    if (job.state == engine::JobState::kSuspended) {
      if (!job.not_ready.empty()) {
        row.reason += "; its ranks are starting again";
      } else if (job.device_loss) {
        row.reason += "; " + TextOf(*job.device_loss);
      } else if (job.restarts && !job.waits_for.empty()) {
        row.reason += "; it cannot start again yet: " + job.waits_for;
      }
    }
    row.step = job.step;
    row.loss = job.loss;
    if (job.state == engine::JobState::kRunning) row.tokens_per_second = job.tokens_per_second;
    row.mesh = job.layout.mesh().shape();
    row.devices = job.layout.mesh().devices();
    row.epoch = job.epoch;
    row.timeline = job.timeline;
    row.layout_hash = ptc::Hex16(job.layout.hash());
    row.global_batch = engine::GlobalBatchOn(job.settings, job.layout.mesh().shape());
    row.at_change = engine::WrongOnPurpose(job.settings.at_change);
    row.num_tensors = std::ssize(job.layout.collection().tensors());
    row.state_bytes = job.layout.collection().total_bytes();
    row.max_steps = job.settings.max_steps;
    row.options = job.options;
    row.step_seconds = MedianStepSeconds(job);
    if (job.settings.program) row.command = job.settings.program->command;
    row.data = job.data;
    out.jobs.push_back(std::move(row));
  }
  for (engine::JobStatus& row : OpeningJobs()) out.jobs.push_back(std::move(row));
  if (txn_) {
    out.transaction = TxnStatusNow();
  } else {
    out.transaction = last_txn_;
  }
  return out;
}

}  // namespace tessera::agents
