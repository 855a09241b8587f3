// SPDX-License-Identifier: Apache-2.0
#include "agents/sim/sim_fabric.h"

#include <algorithm>
#include <utility>

namespace tessera::agents::sim {

std::shared_ptr<void> SimFabric::Start(const std::vector<std::unique_ptr<MoveFlow>>& flows,
                                       std::function<void()> then) {
  auto transfer = std::make_shared<Transfer>();
  for (const auto& flow : flows) transfer->flows.push_back({flow.get(), 0});
  transfer->then = std::move(then);
  transfers_.push_back(transfer);
  if (!std::exchange(is_ticking_, true)) sim_.clock.After(kTick, [this] { Tick(); });
  return transfer;
}

double SimFabric::PortOf(std::int32_t node) const {
  double out = hardware_.network_bytes_per_second;
  if (const auto share = shares_.find(node); share != shares_.end()) out *= share->second;
  const auto limit = limits_.find(node);
  if (limit == limits_.end() || limit->second <= 0) return out;
  return std::min(out, static_cast<double>(limit->second));
}

void SimFabric::Tick() {
  std::vector<std::shared_ptr<Transfer>> running;
  for (const auto& each : transfers_) {
    if (auto transfer = each.lock()) running.push_back(std::move(transfer));
  }
  // Flows through each port, by its owner and direction.
  std::map<std::int32_t, int> from_node, to_node;
  std::map<ptc::DeviceId, int> from_device, to_device;
  for (const auto& transfer : running) {
    for (const auto& [flow, done] : transfer->flows) {
      if (done >= static_cast<double>(flow->total)) continue;
      if (flow->source.node != flow->destination.node) {
        ++from_node[flow->source.node];
        ++to_node[flow->destination.node];
      } else {
        ++from_device[flow->source];
        ++to_device[flow->destination];
      }
    }
  }
  constexpr double kSeconds = kTick / 1000.0;
  std::vector<std::shared_ptr<Transfer>> over;
  for (const auto& transfer : running) {
    bool is_over = true;
    for (auto& [flow, done] : transfer->flows) {
      const auto total = static_cast<double>(flow->total);
      if (done >= total) continue;
      const auto& [source, destination] = std::pair(flow->source, flow->destination);
      const double rate = source.node != destination.node
                              ? std::min(PortOf(source.node) / from_node[source.node],
                                         PortOf(destination.node) / to_node[destination.node])
                              : hardware_.device_bytes_per_second /
                                    std::max(from_device[source], to_device[destination]);
      done = std::min(total, done + rate * kSeconds);
      flow->done = static_cast<std::int64_t>(done);
      is_over = is_over && done >= total;
    }
    if (is_over) over.push_back(transfer);
  }
  std::erase_if(transfers_, [&](const auto& each) {
    const auto transfer = each.lock();
    return !transfer || std::ranges::find(over, transfer) != over.end();
  });
  is_ticking_ = !transfers_.empty();
  if (is_ticking_) sim_.clock.After(kTick, [this] { Tick(); });
  for (const auto& transfer : over) transfer->then();
}

}  // namespace tessera::agents::sim
