// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `topology`: hosts, devices and links of a cluster as the file that `plan --topology` reads.

#include "ptc/topology/topology.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "app/commands/command.h"
#include "app/commands/measure.h"

namespace tessera::app {
namespace {

/// Devices of the nodes that are alive; nodes that share memory are one host, named by the first.
ptc::Cluster clusterOf(const engine::ClusterSnapshot& snapshot) {
  ptc::Cluster cluster;
  std::map<std::string, std::int32_t> hosts;
  for (const engine::NodeStatus& node : snapshot.nodes) {
    if (node.state != engine::NodeState::kAlive) continue;
    for (const engine::DeviceStatus& device : node.devices)
      if (!device.failed) cluster.devices.push_back(device.id);
    const auto [host, fresh] = hosts.emplace(node.host, node.node);
    if (!fresh) cluster.topology.host_of_node[node.node] = host->second;
  }
  std::ranges::sort(cluster.devices);
  // A host is known by the nodes that have devices.
  std::erase_if(cluster.topology.host_of_node, [&](const auto& entry) {
    return std::ranges::none_of(cluster.devices,
                                [&](ptc::DeviceId device) { return device.node == entry.first; });
  });
  return cluster;
}

void setBandwidths(const engine::Calibration& calibration, ptc::Topology& topology) {
  const auto set = [](const engine::LinkCost& link, double& bandwidth) {
    if (link.seconds_per_byte > 0) bandwidth = 1 / link.seconds_per_byte;
  };
  set(calibration.shared_send, topology.host_bytes_per_second);
  set(calibration.network_send, topology.network_bytes_per_second);
  topology.source =
      fmt::format("measured {:%Y-%m-%d} on one machine: shared memory, and Gloo over loopback",
                  fmt::localtime(static_cast<std::time_t>(calibration.measured_at)));
}

int run(const Invocation& call) {
  auto session = openSession(call);
  if (!session) return failed(session.error());
  const auto snapshot = session->snapshot();
  if (!snapshot) return failed(snapshot.error());
  ptc::Cluster cluster = clusterOf(*snapshot);
  if (cluster.devices.empty())
    return failed(FailedPrecondition(
        fmt::format("cluster '{}' has no device that works", snapshot->cluster)));
  const bool measures = call.arguments.has("measure");
  if (measures || !session->profile.calibration.empty()) {
    const auto calibration =
        measures ? measureCluster(*session, call.json) : lastMeasured(*session);
    if (!calibration) return failed(calibration.error());
    setBandwidths(*calibration, cluster.topology);
  }
  std::string text = ptc::ToJson(cluster);
  if (call.json) {  // one line, as every --json
    std::erase(text, '\n');
    text += '\n';
  }
  fmt::print("{}", text);
  return kDone;
}

}  // namespace

Command topologyCommand() {
  return {
      {"topology",
       "prints hosts, devices and links of the cluster as the file that `plan` reads",
       {},
       {{"measure", "",
         "measures the links first, as `probe` does (default: what was measured "
         "last, or assumed)"}},
       {"tesseractl topology > lab.json; tesseractl plan --model gpt2 --topology lab.json ..."}},
      run};
}

}  // namespace tessera::app
