// SPDX-License-Identifier: Apache-2.0
#include "ptc/plan/sources.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>

namespace tessera::ptc {
namespace {

std::int64_t Largest(const std::vector<std::int64_t>& loads) {
  return loads.empty() ? 0 : *std::max_element(loads.begin(), loads.end());
}

/// Holders on the needer's host, or all holders if there is none.
std::vector<std::size_t> Candidates(const Demand& demand, const PortLoads& loads) {
  std::vector<std::size_t> all = demand.holders->ToVector();
  std::vector<std::size_t> near;
  std::copy_if(all.begin(), all.end(), std::back_inserter(near),
               [&](std::size_t holder) { return loads.SameHost(holder, demand.device); });
  return near.empty() ? all : near;
}

}  // namespace

PortLoads::PortLoads(const std::vector<DeviceId>& devices, const Topology& topology)
    : out_(devices.size()),
      in_(devices.size()),
      host_out_(devices.size()),
      host_in_(devices.size()) {
  std::map<std::int32_t, std::size_t> positions;
  for (DeviceId device : devices) {
    hosts_.push_back(
        positions.try_emplace(topology.HostOf(device), positions.size()).first->second);
  }
  network_out_.resize(positions.size());
  network_in_.resize(positions.size());
}

void PortLoads::Add(std::size_t source, std::size_t device, std::int64_t size_bytes) {
  out_[source] += size_bytes;
  in_[device] += size_bytes;
  if (SameHost(source, device)) {
    host_out_[source] += size_bytes;
    host_in_[device] += size_bytes;
  } else {
    network_out_[hosts_[source]] += size_bytes;
    network_in_[hosts_[device]] += size_bytes;
  }
}

std::pair<std::int64_t, std::int64_t> PortLoads::NetworkQueue(std::size_t source) const {
  return {network_out_[hosts_[source]], out_[source]};
}

std::int64_t PortLoads::Busiest() const {
  return std::max({Largest(out_), Largest(in_), Largest(network_out_), Largest(network_in_)});
}

double PortLoads::Seconds(const Topology& topology) const {
  const auto host = static_cast<double>(std::max(Largest(host_out_), Largest(host_in_)));
  const auto network = static_cast<double>(std::max(Largest(network_out_), Largest(network_in_)));
  return std::max(host / topology.host_bytes_per_second,
                  network / topology.network_bytes_per_second);
}

std::vector<std::size_t> ChooseSources(const std::vector<Demand>& demands, PortLoads& loads) {
  std::vector<std::vector<std::size_t>> candidates;
  candidates.reserve(demands.size());
  for (const Demand& demand : demands) candidates.push_back(Candidates(demand, loads));

  std::vector<std::size_t> order(demands.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (candidates[a].size() != candidates[b].size()) {
      return candidates[a].size() < candidates[b].size();
    }
    return demands[a].size_bytes > demands[b].size_bytes;
  });

  std::vector<std::size_t> sources(demands.size());
  for (std::size_t i : order) {
    const Demand& demand = demands[i];
    const bool near = loads.SameHost(candidates[i].front(), demand.device);
    // min_element keeps the first of equals, and candidates ascend: ties go to the lower device.
    sources[i] = *std::min_element(candidates[i].begin(), candidates[i].end(),
                                   [&](std::size_t a, std::size_t b) {
                                     return near ? loads.Sent(a) < loads.Sent(b)
                                                 : loads.NetworkQueue(a) < loads.NetworkQueue(b);
                                   });
    loads.Add(sources[i], demand.device, demand.size_bytes);
  }
  return sources;
}

}  // namespace tessera::ptc
