// SPDX-License-Identifier: Apache-2.0
#include "ptc/plan/placement_problem.h"

#include <algorithm>
#include <map>

#include "ptc/base/at.h"
#include "ptc/plan/assignment.h"

namespace tessera::ptc {
namespace {}  // namespace

PlacementProblem::PlacementProblem(const Layout& from, const Layout& trial,
                                   const std::vector<DeviceId>& devices, const Topology& topology,
                                   const std::vector<DeviceId>& lost)
    : kinds_(MakeKinds(from, trial)),
      classes_(kinds_),
      table_(MakeDeviceTable(from, trial, topology, lost)),
      holders_(kinds_, classes_, table_),
      needs_(kinds_, classes_),
      candidate_of_(table_.devices.size()) {
  std::map<std::int32_t, int> hosts;
  for (DeviceId device : devices) hosts.emplace(topology.HostOf(device), 0);
  for (auto& [name, position] : hosts) position = num_hosts_++;
  for (DeviceId device : devices) {
    const std::int32_t name = topology.HostOf(device);
    Candidate candidate;
    candidate.host = hosts.at(name);
    if (const auto at = table_.Find(device)) {
      candidate.old_rank = table_.from[At(*at)];
      candidate_of_[At(*at)] = static_cast<int>(candidates_.size());
    }
    const auto held = std::lower_bound(table_.hosts.begin(), table_.hosts.end(), name);
    if (held != table_.hosts.end() && *held == name) {
      candidate.held_host = static_cast<int>(held - table_.hosts.begin());
    }
    candidates_.push_back(candidate);
  }
}

std::vector<int> PlacementProblem::HoldersOf(int held_class) {
  std::vector<int> found;
  for (int device : holders_.Of(held_class).devices) {
    if (const auto candidate = candidate_of_[At(device)]) found.push_back(*candidate);
  }
  return found;
}

std::int64_t PlacementProblem::OnDevice(int rank, int candidate) {
  const std::optional<int> old_rank = candidates_[At(candidate)].old_rank;
  if (!old_rank) return 0;
  std::int64_t bytes = 0;
  for (const Need& need : needs_.Of(rank)) {
    if (classes_.Holds(need.held_class, *old_rank)) bytes += need.bytes;
  }
  return bytes;
}

std::int64_t PlacementProblem::OnHost(int rank, int candidate) {
  const std::optional<int> host = candidates_[At(candidate)].held_host;
  if (!host) return 0;
  std::int64_t bytes = 0;
  for (const Need& need : needs_.Of(rank)) {
    if (holders_.Of(need.held_class).OnHost(*host)) bytes += need.bytes;
  }
  return bytes;
}

std::vector<int> PlacementProblem::Assign(const std::vector<int>& ranks,
                                          const std::vector<int>& candidates) {
  std::vector<std::vector<AssignmentCost>> costs(ranks.size());
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    std::map<int, std::int64_t> on_host;
    for (std::size_t c = 0; c < candidates.size(); ++c) {
      const int host = candidates_[At(candidates[c])].host;
      const auto [known, is_new] = on_host.try_emplace(host, 0);
      if (is_new) known->second = OnHost(ranks[r], candidates[c]);
      // The squared distance from the ascending order is least for that order, so it breaks ties.
      const auto away = static_cast<std::int64_t>(r) - static_cast<std::int64_t>(c);
      costs[r].push_back({-OnDevice(ranks[r], candidates[c]), -known->second, away * away});
    }
  }
  std::vector<int> chosen;
  for (std::size_t column : SolveAssignment(costs)) chosen.push_back(candidates[column]);
  return chosen;
}

}  // namespace tessera::ptc
