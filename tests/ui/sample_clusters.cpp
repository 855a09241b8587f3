// SPDX-License-Identifier: Apache-2.0
#include "tests/ui/sample_clusters.h"

#include <algorithm>

namespace tessera::test {
namespace {
constexpr std::int64_t kMiB = 1 << 20;
constexpr std::int64_t kPiece = 9'856'614;  // 9.4 MiB

engine::FlowStatus Flow(ptc::DeviceId source, ptc::DeviceId destination, std::int64_t total) {
  engine::FlowStatus flow;
  flow.source = source;
  flow.destination = destination;
  flow.bytes_total = total;
  return flow;
}
}  // namespace

ptc::MeshShape Shape(std::int64_t dp, std::int64_t tp, std::int64_t pp) {
  ptc::MeshShape shape;
  shape[ptc::Axis::kDp] = dp;
  shape[ptc::Axis::kTp] = tp;
  shape[ptc::Axis::kPp] = pp;
  return shape;
}

engine::ClusterSnapshot IdleCluster(int nodes, int devices) {
  engine::ClusterSnapshot cluster;
  cluster.cluster = "local";
  cluster.one_host = true;
  for (int n = 0; n < nodes; ++n) {
    engine::NodeStatus node;
    node.node = n;
    node.state = engine::NodeState::kAlive;
    for (int i = 0; i < devices; ++i) {
      engine::DeviceStatus device;
      device.id = {n, i};
      device.total_bytes = 512 * kMiB;
      node.devices.push_back(std::move(device));
    }
    cluster.nodes.push_back(std::move(node));
  }
  return cluster;
}

void AddJob(engine::ClusterSnapshot* cluster, const ptc::MeshShape& shape) {
  engine::JobStatus job;
  job.name = kJob;
  job.state = engine::JobState::kRunning;
  job.step = 1284;
  job.loss = 2.214;
  job.mesh = shape;
  job.epoch = 3;
  const auto ranks = static_cast<std::size_t>(shape.num_ranks());
  for (auto& node : cluster->nodes) {
    for (auto& device : node.devices) {
      if (job.devices.size() == ranks) break;
      device.job = kJob;
      device.rank = static_cast<int>(job.devices.size());
      device.used_bytes = 118 * kMiB;
      job.devices.push_back(device.id);
    }
  }
  cluster->jobs.push_back(std::move(job));
}

engine::ClusterSnapshot SmallCluster() {
  auto cluster = IdleCluster(2, 4);
  AddJob(&cluster, Shape(2, 2, 1));
  return cluster;
}

std::set<ptc::DeviceId> AllDevices(const engine::ClusterSnapshot& cluster) {
  std::set<ptc::DeviceId> all;
  for (const auto& node : cluster.nodes) {
    for (const auto& device : node.devices) all.insert(device.id);
  }
  return all;
}

std::set<ptc::DeviceId> JobDevices(const engine::ClusterSnapshot& cluster) {
  return {cluster.jobs.front().devices.begin(), cluster.jobs.front().devices.end()};
}

engine::PlanSummary GrowthPlan() {
  engine::PlanSummary plan;
  plan.job = kJob;
  plan.epoch = 3;
  plan.from_mesh = Shape(2, 2, 1);
  plan.to_mesh = Shape(4, 2, 1);
  for (int n = 0; n < 2; ++n) {
    for (int i = 0; i < 4; ++i) {
      plan.to_devices.push_back({n, i});
      if (n == 0) plan.from_devices.push_back({n, i});
      plan.peak_memory.push_back({{n, i}, 118 * kMiB, 512 * kMiB});
    }
  }
  for (int i = 0; i < 4; ++i) {
    plan.flows.push_back(Flow({0, i}, {1, i}, kPiece));
  }
  plan.network = 4 * kPiece;
  return plan;
}

engine::ClusterSnapshot MovingCluster(const std::vector<int>& done, engine::TxnPhase phase) {
  auto cluster = SmallCluster();
  const auto plan = GrowthPlan();
  engine::TxnStatus txn;
  txn.id = 4;
  txn.job = kJob;
  txn.phase = phase;
  txn.from_mesh = plan.from_mesh;
  txn.to_mesh = plan.to_mesh;
  txn.from_devices = plan.from_devices;
  txn.to_devices = plan.to_devices;
  txn.flows = plan.flows;
  for (std::size_t i = 0; i < txn.flows.size(); ++i) {
    txn.flows[i].bytes_done = kPiece * done[i] / 100;
    txn.flows[i].bytes_per_second = 19e6 + 3e6 * static_cast<double>(i);
    txn.bytes_done += txn.flows[i].bytes_done;
    txn.bytes_total += txn.flows[i].bytes_total;
  }
  for (auto& device : cluster.nodes[1].devices) {
    device.joining = true;
    device.used_bytes = 118 * kMiB;
  }
  cluster.transaction = std::move(txn);
  return cluster;
}

engine::ClusterSnapshot LargeCluster(int nodes, int devices, int idle, int bundles) {
  auto cluster = IdleCluster(nodes, devices);
  cluster.cluster = "lab-a";
  const int stages = nodes - idle < 8 ? 1 : 4;
  AddJob(&cluster, Shape((nodes - idle) / stages, devices, stages));
  if (bundles == 0) return cluster;
  engine::TxnStatus txn;
  txn.job = kJob;
  txn.phase = engine::TxnPhase::kTransferring;
  txn.from_mesh = txn.to_mesh = cluster.jobs.front().mesh;
  txn.from_devices = txn.to_devices = cluster.jobs.front().devices;
  for (int b = 0; b < bundles; ++b) {
    const int from = b * 5 % (nodes - idle);
    const int to = (from * 3 + 16 + b) % (nodes - idle);
    if (from == to) continue;
    for (int i = 0; i < devices; ++i) {
      auto flow = Flow({from, i}, {to, i}, (b + 1) * kPiece);
      flow.bytes_done = flow.bytes_total * 3 / 10;
      flow.bytes_per_second = 1e6 * (1 + b % 7);
      txn.flows.push_back(flow);
    }
  }
  cluster.transaction = std::move(txn);
  return cluster;
}

}  // namespace tessera::test
