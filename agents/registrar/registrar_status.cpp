// SPDX-License-Identifier: Apache-2.0
// The state of the cluster, as panels and command lines see it.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "agents/registrar/registrar.h"
#include "engine/model/gpt.h"

namespace tessera::agents {

namespace {

// Its ranks may train on, so the job is not lost. Only a person can know that.
std::string SilenceText(const Job& job, const Membership& members) {
  std::string silent;
  for (const std::int32_t number : NodesOf(job.layout.mesh())) {
    const Membership::Node* const node = members.Find(number);
    if (!node || node->state != engine::NodeState::kUnmanaged) return {};
    silent += fmt::format("{}n{}", silent.empty() ? "" : ", ", number);
  }
  return fmt::format("nothing is heard of {}; it may train on there", silent);
}

}  // namespace

engine::ClusterSnapshot Registrar::Snapshot() const {
  engine::ClusterSnapshot out;
  const Txn* const txn = transactions_.running();
  out.cluster = config_.cluster;
  out.sequence = static_cast<std::int64_t>(publisher_.sequence());
  out.link_bytes_per_second = static_cast<double>(config_.link_bytes_per_second);
  std::set<std::string> hosts;
  for (const auto& [number, node] : members_.nodes()) {
    if (node.incarnation != 0) hosts.insert(node.peer.host());
    out.plain_lanes = out.plain_lanes || node.lane_secret.has_value();
    engine::NodeStatus row;
    row.node = number;
    row.state = node.state;
    row.host = node.peer.host();
    row.address = node.peer.address();
    row.version = node.version;
    row.view_bytes = std::max<std::int64_t>(node.view_bytes, 0);
    row.lanes = node.lanes;
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
      if (txn && !d.rank && txn->planned.to.mesh().RankOf(d.id)) {
        d.job = txn->job;
        d.rank = txn->planned.to.mesh().RankOf(d.id);
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
    row.decision = losses_.StatusOf(job);
    row.checkpoints = checkpoints_.StatusOf(name);
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
    if (row.state == engine::JobState::kRunning && row.reason.empty()) {
      row.reason = SilenceText(job, members_);
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
  for (engine::JobStatus& row : openings_.Rows()) out.jobs.push_back(std::move(row));
  out.transaction = transactions_.status();
  return out;
}

}  // namespace tessera::agents
