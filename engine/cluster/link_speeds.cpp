// SPDX-License-Identifier: Apache-2.0
#include "engine/cluster/link_speeds.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <optional>

namespace tessera::engine {
namespace {

/// \pre !values.empty()
double LowerMedian(std::vector<double> values) {
  const auto middle = values.begin() + (std::ssize(values) - 1) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::vector<double> ValuesOf(const std::map<std::int32_t, double>& by_host) {
  std::vector<double> values;
  for (const auto& [host, value] : by_host) values.push_back(value);
  return values;
}

/// Rounds to whole bytes, because the values of plans are also sent to agents and printed.
void UseNetwork(const std::map<std::int32_t, double>& ports, ptc::Topology* topology) {
  topology->network_bytes_per_second = std::round(LowerMedian(ValuesOf(ports)));
  for (const auto& [host, port] : ports) {
    const double usual = topology->network_bytes_per_second;
    if (std::abs(port - usual) >= kEqualPorts * usual) {
      topology->network_of_host[host] = std::round(port);
    }
  }
}

std::string SourceText(const LinkSpeeds& speeds, const std::set<std::int32_t>& measured,
                       bool has_memory, bool has_network) {
  std::vector<std::string> names;
  for (const std::int32_t node : measured) names.push_back(fmt::format("n{}", node));
  constexpr std::size_t kMostNames = 8;
  const std::string where = names.size() <= kMostNames ? fmt::format("{}", fmt::join(names, ", "))
                                                       : fmt::format("{} nodes", names.size());
  std::string text = fmt::format("measured {:%Y-%m-%d %H:%M} UTC on {}",
                                 fmt::gmtime(static_cast<std::time_t>(speeds.measured_at)), where);
  if (!has_network) text += "; the network is assumed";
  if (!has_memory) text += "; memory is assumed";
  return text;
}

}  // namespace

double LinkSpeed::median() const { return LowerMedian(bytes_per_second); }

LaneUse LinkSpeeds::use() const {
  std::vector<double> lanes, frames;
  for (const LinkSpeed& link : links) {
    if (link.is_memory()) continue;
    lanes.push_back(link.use.lanes);
    frames.push_back(static_cast<double>(link.use.frame_bytes));
  }
  if (lanes.empty()) return {};
  return {static_cast<int>(LowerMedian(std::move(lanes))),
          static_cast<std::int64_t>(LowerMedian(std::move(frames)))};
}

void LinkSpeeds::Forget(std::int32_t node) {
  std::erase_if(links,
                [node](const LinkSpeed& link) { return link.from == node || link.to == node; });
  marks.erase(node);
}

void UseMeasured(const LinkSpeeds& speeds, const std::set<std::int32_t>& nodes,
                 ptc::Topology* topology) {
  std::set<std::int32_t> hosts, measured;
  for (const std::int32_t node : nodes) hosts.insert(topology->HostOf({node, 0}));
  std::map<std::int32_t, double> memory, ports;  // by host
  for (const LinkSpeed& link : speeds.links) {
    for (const std::int32_t node : {link.from, link.to}) {
      const std::int32_t host = topology->HostOf({node, 0});
      if (!hosts.contains(host)) continue;
      double& fastest = (link.is_memory() ? memory : ports)[host];
      fastest = std::max(fastest, link.median());
      if (nodes.contains(node)) measured.insert(node);
    }
  }
  if (memory.empty() && ports.empty()) return;
  if (!memory.empty()) {
    topology->host_bytes_per_second = std::round(LowerMedian(ValuesOf(memory)));
  }
  if (!ports.empty()) UseNetwork(ports, topology);
  topology->source = SourceText(speeds, measured, !memory.empty(), !ports.empty());
}

}  // namespace tessera::engine
