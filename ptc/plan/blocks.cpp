// SPDX-License-Identifier: Apache-2.0
#include "ptc/plan/blocks.h"

#include <algorithm>
#include <map>

#include "ptc/base/at.h"

namespace tessera::ptc {
namespace {

/// The most devices of a host that are placed together. A larger host counts as several.
constexpr std::size_t kMostDevicesPerHost = 64;

void FindHosts(const PlacementProblem& problem, std::vector<Host>& hosts) {
  std::vector<std::vector<int>> by_host(At(problem.num_hosts()));
  for (std::size_t c = 0; c < problem.candidates().size(); ++c) {
    by_host[At(problem.candidates()[c].host)].push_back(static_cast<int>(c));
  }
  for (const std::vector<int>& candidates : by_host) {
    for (std::size_t begin = 0; begin < candidates.size(); begin += kMostDevicesPerHost) {
      const std::size_t end = std::min(begin + kMostDevicesPerHost, candidates.size());
      hosts.push_back({{candidates.begin() + static_cast<std::ptrdiff_t>(begin),
                        candidates.begin() + static_cast<std::ptrdiff_t>(end)},
                       {},
                       0});
    }
  }
}

std::size_t BlockSize(int num_ranks, const std::vector<Host>& hosts) {
  std::vector<std::size_t> sizes{1};
  for (const Host& host : hosts) sizes.push_back(host.candidates.size());
  std::sort(sizes.rbegin(), sizes.rend());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  for (std::size_t size : sizes) {
    std::size_t ranks = 0;
    for (const Host& host : hosts) ranks += host.candidates.size() / size * size;
    if (ranks >= At(num_ranks)) return size;
  }
  return 1;
}

void FindBlocks(PlacementProblem& problem, std::vector<Host>& hosts, std::vector<Block>& blocks) {
  const std::size_t size = BlockSize(problem.num_ranks(), hosts);
  for (Host& host : hosts) {
    host.slots = static_cast<std::int64_t>(host.candidates.size() / size);
  }
  for (int rank = 0; rank < problem.num_ranks(); ++rank) {
    if (blocks.empty() || blocks.back().ranks.size() == size) blocks.emplace_back();
    blocks.back().ranks.push_back(rank);
  }
  for (Block& block : blocks) {
    std::map<int, BlockNeed> needs;
    for (int rank : block.ranks) {
      std::map<int, std::int64_t> of_rank;
      for (const Need& need : problem.NeedsOf(rank)) of_rank[need.held_class] += need.bytes;
      for (const auto& [held_class, bytes] : of_rank) {
        BlockNeed& need = needs[held_class];
        need = {held_class, need.total + bytes, std::max(need.most, bytes)};
      }
    }
    for (const auto& [held_class, need] : needs) block.needs.push_back(need);
  }
}

void FindHoldings(PlacementProblem& problem, BlockProblem& out) {
  std::vector<Host>& hosts = out.hosts;
  out.on_hosts.resize(At(problem.num_classes()));
  std::vector<std::size_t> host_of(problem.candidates().size());
  for (std::size_t h = 0; h < hosts.size(); ++h) {
    for (int candidate : hosts[h].candidates) host_of[At(candidate)] = h;
  }
  for (int c = 0; c < problem.num_classes(); ++c) {
    std::map<std::size_t, std::int64_t> devices;
    for (int candidate : problem.HoldersOf(c)) ++devices[host_of[At(candidate)]];
    for (const auto& [host, count] : devices) {
      out.on_hosts[At(c)].emplace_back(host, count);
      hosts[host].holds.push_back({c, count});
    }
  }
}

}  // namespace

std::int64_t InPlace(const BlockNeed& need, std::int64_t devices) {
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(need.most, devices, &bytes)) return need.total;
  return std::min(need.total, bytes);
}

BlockProblem MakeBlockProblem(PlacementProblem& problem) {
  BlockProblem out;
  FindHosts(problem, out.hosts);
  FindBlocks(problem, out.hosts, out.blocks);
  FindHoldings(problem, out);
  return out;
}

}  // namespace tessera::ptc
