// SPDX-License-Identifier: Apache-2.0
// The state of the cluster, as panels and command lines see it.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "agents/registrar/registrar.h"
#include "engine/model/gpt.h"

namespace tessera::agents {

namespace {

// Its ranks may train on, so the job is not lost. Only a person can know that.
std::string SilenceText(const Job& job, const Membership& members) {
  const auto is_silent = [&](std::int32_t number) {
    const Membership::Node* const node = members.Find(number);
    return node && node->state == engine::NodeState::kUnmanaged;
  };
  // Mostly the first node is not, and there may be thousands.
  for (const ptc::DeviceId device : job.layout.mesh().devices()) {
    if (!is_silent(device.node)) return {};
  }
  std::string silent;
  for (const std::int32_t number : NodesOf(job.layout.mesh())) {
    silent += fmt::format("{}n{}", silent.empty() ? "" : ", ", number);
  }
  return fmt::format("nothing is heard of {}; it may train on there", silent);
}

}  // namespace

std::string Registrar::ShownLayouts() const {
  std::string text;
  for (const auto& [name, job] : jobs_) {
    text += fmt::format("{} {} {}", name, job.layout.hash(), job.epoch);
    for (const engine::SlowRank& slow : job.slow) {
      text += fmt::format(" {} {}", ToString(slow.device), slow.peers_seconds);
    }
    text += '\n';
  }
  if (const Txn* const txn = transactions_.running()) text += fmt::format("txn {}", txn->id);
  return text;
}

engine::ClusterSnapshot Registrar::State(bool all_nodes) {
  engine::ClusterSnapshot out;
  out.cluster = config_.cluster;
  out.link_bytes_per_second = static_cast<double>(config_.link_bytes_per_second);
  std::string layouts = ShownLayouts();
  all_nodes = all_nodes || layouts != shown_layouts_;
  shown_layouts_ = std::move(layouts);
  const std::set<std::int32_t> changed = members_.TakeChanged();
  std::set<std::string_view> hosts;
  for (const auto& [number, node] : members_.nodes()) {
    if (node.incarnation != 0 && hosts.size() < 2) hosts.insert(node.peer.host());
    out.plain_lanes = out.plain_lanes || node.lane_secret.has_value();
    // The time since a silent node was heard grows.
    const bool may_differ =
        all_nodes || node.state != engine::NodeState::kAlive || changed.contains(number);
    if (may_differ) out.nodes.push_back(StatusOf(node));
  }
  out.one_host = hosts.size() == 1 && members_.nodes().size() > 1;
  out.history_problem = publisher_.problem();
  for (const auto& [name, job] : jobs_) out.jobs.push_back(StatusOf(job));
  for (const std::string& name : jobs_.unknown().names()) {
    if (!jobs_.Find(name)) out.jobs.push_back(jobs_.unknown().RowOf(name));
  }
  for (engine::JobStatus& row : openings_.Rows()) out.jobs.push_back(std::move(row));
  out.transaction = transactions_.status();
  out.lease = lease_.current();
  if (world_.simulation) out.simulation = world_.simulation->status();
  return out;
}

void Registrar::OnStatus(const ReplyPtr& reply) {
  const auto now = timers_.now();
  engine::ClusterSnapshot state = publisher_.PublishState(now);
  for (engine::NodeStatus& row : state.nodes) {
    row.last_seen = std::chrono::duration<double>(now - members_.Find(row.node)->last_seen).count();
  }
  state.time = world_.wall_clock();
  wire::Reply out;
  Encode(state, out.mutable_status());
  reply->Done(std::move(out));
}

engine::NodeStatus Registrar::StatusOf(const Node& node) const {
  const Txn* const txn = transactions_.running();
  engine::NodeStatus row;
  row.node = node.number;
  row.state = node.state;
  row.host = node.peer.host();
  row.address = node.peer.address();
  row.version = node.version;
  row.rack = node.rack;
  row.gpu = node.gpu;
  row.gpu_driver = node.gpu_driver;
  row.problem = node.problem;
  row.view_bytes = std::max<std::int64_t>(node.view_bytes, 0);
  row.network = node.network;
  if (node.state != engine::NodeState::kAlive) {
    const auto silent = timers_.now() - node.last_seen;
    row.last_seen =
        static_cast<double>(std::chrono::duration_cast<std::chrono::seconds>(silent).count());
  }
  for (const wire::NodeDevice& device : node.devices) {
    engine::DeviceStatus d;
    d.id = {node.number, device.index()};
    d.used_bytes = device.used();
    d.total_bytes = device.capacity();
    d.failed = device.failed();
    for (const auto& [name, job] : jobs_) {
      const auto rank = job.layout.mesh().RankOf(d.id);
      if (!rank) continue;
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
    if (txn && !d.rank) {
      if (const auto rank = txn->planned.to.mesh().RankOf(d.id)) {
        d.job = txn->job;
        d.rank = *rank;
        d.joining = true;
      }
    }
    // Such a GPU is not idle, but nobody knows its rank.
    const bool is_unknown = !d.rank && !device.job().empty() &&
                            jobs_.ClaimOf(node, device) == JobTable::Claim::kUnknown;
    if (is_unknown) d.job = device.job();
    row.devices.push_back(std::move(d));
  }
  return row;
}

engine::JobStatus Registrar::StatusOf(const Job& job) const {
  engine::JobStatus row;
  row.name = job.name;
  row.origin = static_cast<std::int64_t>(job.start);
  row.model = job.settings.program ? job.settings.program->title : job.settings.model.name;
  row.state = job.state;
  row.on_failure = job.on_failure;
  row.decision = losses_.StatusOf(job);
  row.checkpoints = checkpoints_.StatusOf(job.name);
  row.metrics = job.metrics;
  row.snapshots = states_.SnapshotsOf(job);
  if (row.decision && row.decision->can_continue() && !row.decision->chosen) {
    row.state = engine::JobState::kWaitingDecision;
  }
  row.reason = job.starting && job.start_watch ? job.start_watch->Text() : job.reason;
  if (job.state == engine::JobState::kSuspended) {
    if (!job.not_ready.empty()) {
      row.reason += "; its ranks are starting again";
    } else if (job.device_loss) {
      row.reason += "; " + LossDesk::TextOf(*job.device_loss);
    } else if (job.restarts && !job.waits_for.empty()) {
      row.reason += "; it cannot start again yet: " + job.waits_for;
    }
  }
  if (const Status explained = jobs_.CheckExplained(job.name); !explained) {
    row.reason = explained.error().message;
  }
  if (row.state == engine::JobState::kRunning && row.reason.empty()) {
    row.reason = SilenceText(job, members_);
  }
  row.step = job.step;
  row.loss = job.loss;
  const Txn* const change = transactions_.running();
  const bool trains = job.state == engine::JobState::kRunning ||
                      job.state == engine::JobState::kPausing ||
                      (change && change->job == job.name && change->TrainsOn());
  if (trains) row.tokens_per_second = job.tokens_per_second;
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
  row.survival = job.Survival();
  row.starts_again =
      job.state == engine::JobState::kSuspended && job.restarts && !job.device_loss;
  row.finished = job.finished || (row.max_steps > 0 && row.step >= row.max_steps);
  // The origin of a job is when it was started, in nanoseconds: see JobStarter.
  row.started = static_cast<double>(job.start) / 1e9;
  row.owner = job.owner;
  row.step_seconds = MedianStepSeconds(job);
  if (job.settings.program) row.command = job.settings.program->command;
  row.data = job.data;
  return row;
}

}  // namespace tessera::agents
