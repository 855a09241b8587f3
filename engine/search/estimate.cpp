// SPDX-License-Identifier: Apache-2.0
#include "engine/search/estimate.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "ptc/base/at.h"
#include "ptc/plan/dropped_replicas.h"

namespace tessera::engine {
namespace {

/// The most bytes of one device in one direction.
class DeviceLoads {
 public:
  explicit DeviceLoads(std::size_t num_devices) : out_(num_devices), in_(num_devices) {}
  void Add(int source, int device, std::int64_t bytes) {
    out_[At(source)] += bytes;
    in_[At(device)] += bytes;
  }
  double most() const {
    std::int64_t most = 0;
    for (const std::int64_t bytes : out_) most = std::max(most, bytes);
    for (const std::int64_t bytes : in_) most = std::max(most, bytes);
    return static_cast<double>(most);
  }

 private:
  std::vector<std::int64_t> out_, in_;
};

/// The seconds of EstimatePause without the fixed ones.
double MoveSeconds(const ptc::Outline& plan, const PauseCosts& costs) {
  const ptc::Topology& topology = plan.topology;
  std::vector<std::int32_t> host_of;
  for (const ptc::DeviceId device : plan.devices) host_of.push_back(topology.HostOf(device));
  DeviceLoads inside(plan.devices.size()), forwarded(plan.devices.size());
  std::map<std::int32_t, std::pair<std::int64_t, std::int64_t>> network;  // by host: out, in
  for (const ptc::ClassFlow& flow : plan.flows) {
    const std::int32_t source = host_of[At(flow.source)];
    const std::int32_t destination = host_of[At(flow.device)];
    if (source == destination) {
      inside.Add(flow.source, flow.device, flow.bytes);
    } else {
      network[source].first += flow.bytes;
      network[destination].second += flow.bytes;
    }
  }
  for (const ptc::Relay& relay : plan.relays) {
    for (std::size_t i = 0; i < relay.devices.size(); ++i) {
      for (const int other : relay.devices) {
        if (other != relay.devices[i]) forwarded.Add(relay.devices[i], other, relay.RangeBytes(i));
      }
    }
  }
  double transfer = inside.most() / topology.host_bytes_per_second;
  for (const auto& [host, bytes] : network) {
    const auto most = static_cast<double>(std::max(bytes.first, bytes.second));
    transfer = std::max(transfer, most / topology.NetworkOf(host));
  }
  transfer += forwarded.most() / topology.host_bytes_per_second;
  std::int64_t repacked = 0;
  for (const std::int64_t bytes : plan.repacked) repacked = std::max(repacked, bytes);
  const auto most_repacked = static_cast<double>(repacked);
  return transfer + most_repacked / costs.repack_bytes_per_second +
         std::max(inside.most(), most_repacked) / costs.digest_bytes_per_second;
}

}  // namespace

PauseCosts CostsOn(const ptc::Topology& topology) {
  PauseCosts costs;
  const double copies = topology.host_bytes_per_second;
  costs.digest_bytes_per_second = std::max(costs.digest_bytes_per_second, copies);
  costs.repack_bytes_per_second = std::max(costs.repack_bytes_per_second, copies / 2);
  return costs;
}

double EstimatePause(const ptc::Outline& plan) {
  return EstimatePause(plan, CostsOn(plan.topology));
}

double EstimatePause(const std::vector<ptc::Outline>& parts) {
  double seconds = PauseCosts().fixed_seconds;
  for (const ptc::Outline& part : parts) seconds += MoveSeconds(part, CostsOn(part.topology));
  return seconds;
}

double SecondsOfReplicas(const ptc::Layout& from, const ptc::Layout& to,
                         const ptc::Topology& topology, const std::vector<ptc::DeviceId>& lost) {
  return static_cast<double>(ptc::DroppedReplicaBytes(from, to, lost)) /
         CostsOn(topology).digest_bytes_per_second;
}

double SecondsOfRounds(std::int64_t rounds) {
  return PauseCosts().round_seconds * static_cast<double>(rounds);
}

double EstimatePause(const ptc::Outline& plan, const PauseCosts& costs) {
  return costs.fixed_seconds + MoveSeconds(plan, costs);
}

}  // namespace tessera::engine
