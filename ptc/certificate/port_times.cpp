// SPDX-License-Identifier: Apache-2.0
#include "ptc/certificate/port_times.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

#include "ptc/base/check.h"
#include "ptc/certificate/max_flow.h"

namespace tessera::ptc {
namespace {

/// A time as an exact fraction: bytes over speed.
struct Ratio {
  Wide bytes = 0;
  Wide speed = 1;
  friend bool operator<(const Ratio& a, const Ratio& b) {
    return a.bytes * b.speed < b.bytes * a.speed;
  }
};

}  // namespace

std::int64_t SaturatingAdd(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::int64_t>::max() : sum;
}

std::int64_t SaturatingMultiply(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::int64_t>::max()
                                                : product;
}

PortTimes::PortTimes(const std::vector<double>& speeds) : fixed_(speeds.size()) {
  std::int64_t unit = 0;
  for (double speed : speeds) {
    speeds_.push_back(std::max(std::int64_t{1}, static_cast<std::int64_t>(std::llround(speed))));
    unit = std::gcd(unit, speeds_.back());
  }
  for (std::int64_t& speed : speeds_) speed /= unit;
  unit_ = static_cast<double>(std::max(std::int64_t{1}, unit));
}

void PortTimes::Add(int port, std::int64_t bytes) {
  std::int64_t& fixed = fixed_[static_cast<std::size_t>(port)];
  fixed = SaturatingAdd(fixed, bytes);
}

void PortTimes::Add(const std::vector<int>& ports, std::int64_t bytes) {
  TESSERA_DCHECK(!ports.empty() && std::is_sorted(ports.begin(), ports.end()));
  if (bytes == 0) return;
  if (ports.size() == 1) return Add(ports.front(), bytes);
  std::int64_t& shared = shared_[ports];
  shared = SaturatingAdd(shared, bytes);
}

std::vector<PortTimes::Group> PortTimes::MakeGroups() const {
  std::vector<std::vector<std::size_t>> loads_of(speeds_.size());
  std::size_t load = 0;
  for (const auto& [ports, bytes] : shared_) {
    for (int port : ports) loads_of[static_cast<std::size_t>(port)].push_back(load);
    ++load;
  }
  std::map<std::pair<std::vector<std::size_t>, std::int64_t>, Group> groups;
  for (std::size_t port = 0; port < speeds_.size(); ++port) {
    if (loads_of[port].empty()) continue;
    Group& group = groups[{loads_of[port], speeds_[port]}];
    if (group.count++ == 0) group.first = static_cast<int>(port);
    group.speed += speeds_[port];
    group.fixed = SaturatingAdd(group.fixed, fixed_[port]);
    group.shared = loads_of[port];
  }
  std::vector<Group> result;
  for (auto& [key, group] : groups) result.push_back(std::move(group));
  return result;
}

PortTimes::Bound PortTimes::Least() const {
  // Start with the loads that only one port can serve. No port is overloaded by these at `least`.
  Ratio least;
  Bound bound;
  for (std::size_t port = 0; port < speeds_.size(); ++port) {
    const Ratio alone{fixed_[port], speeds_[port]};
    if (!(least < alone)) continue;
    least = alone;
    bound.port = static_cast<int>(port);
    bound.num_ports = 1;
  }

  const std::vector<Group> groups = MakeGroups();
  const std::size_t num_loads = shared_.size();
  const std::size_t source = num_loads + groups.size();
  const std::size_t sink = source + 1;
  while (true) {
    MaxFlow flow(sink + 1);
    Wide demand = 0;
    std::size_t load = 0;
    for (const auto& [ports, bytes] : shared_) {
      flow.AddEdge(source, load++, bytes * least.speed);
      demand += bytes * least.speed;
    }
    for (std::size_t g = 0; g < groups.size(); ++g) {
      for (std::size_t shared : groups[g].shared) flow.AddEdge(shared, num_loads + g, demand);
      flow.AddEdge(num_loads + g, sink,
                   least.bytes * groups[g].speed - groups[g].fixed * least.speed);
    }
    if (flow.Run(source, sink) == demand) break;
    // The cut has the loads and ports that are still reached. They take longer than `least`.
    const std::vector<bool>& reached = flow.SourceSide();
    Ratio cut{0, 0};
    load = 0;
    for (const auto& [ports, bytes] : shared_) {
      if (reached[load++]) cut.bytes += bytes;
    }
    bound.port = -1;
    bound.num_ports = 0;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      if (!reached[num_loads + g]) continue;
      cut.bytes += groups[g].fixed;
      cut.speed += groups[g].speed;
      bound.num_ports += groups[g].count;
      if (bound.port < 0 || groups[g].first < bound.port) bound.port = groups[g].first;
    }
    TESSERA_CHECK(least < cut);
    least = cut;
  }
  if (bound.port < 0) return bound;
  bound.seconds = static_cast<double>(least.bytes) / static_cast<double>(least.speed) / unit_;
  const Wide through = least.bytes * speeds_[static_cast<std::size_t>(bound.port)];
  bound.bytes = static_cast<std::int64_t>((through + least.speed - 1) / least.speed);
  return bound;
}

}  // namespace tessera::ptc
