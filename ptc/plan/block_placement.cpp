// SPDX-License-Identifier: Apache-2.0
#include "ptc/plan/block_placement.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "ptc/base/at.h"
#include "ptc/plan/assignment.h"
#include "ptc/plan/blocks.h"
#include "ptc/plan/placement.h"
#include "ptc/plan/transport.h"

namespace tessera::ptc {
namespace {

/// The most blocks or hosts in one assignment problem within a pair of groups.
constexpr std::size_t kMostRefined = 256;

/// Members with equal keys. Groups are in the order of their first members.
struct Groups {
  std::vector<std::vector<std::size_t>> members;
};
template <typename Key, typename KeyOf>
Groups GroupBy(std::size_t count, const KeyOf& key_of) {
  std::map<Key, std::size_t> numbers;
  Groups groups;
  for (std::size_t i = 0; i < count; ++i) {
    const auto [at, is_new] = numbers.try_emplace(key_of(i), groups.members.size());
    if (is_new) groups.members.emplace_back();
    groups.members[at->second].push_back(i);
  }
  return groups;
}

class BlockPlacer {
 public:
  BlockPlacer(PlacementProblem& problem, BlockProblem blocks)
      : problem_(problem),
        hosts_(std::move(blocks.hosts)),
        blocks_(std::move(blocks.blocks)),
        counted_(At(problem.num_classes()), true),
        on_hosts_(std::move(blocks.on_hosts)),
        blocks_on_(hosts_.size()) {}

  std::vector<int> Run(std::int64_t& bound) && {
    FormGroups();
    Transport(bound);
    std::vector<int> chosen(At(problem_.num_ranks()));
    for (std::size_t h = 0; h < hosts_.size(); ++h) {
      std::vector<int> ranks;
      for (std::size_t b : blocks_on_[h]) {
        ranks.insert(ranks.end(), blocks_[b].ranks.begin(), blocks_[b].ranks.end());
      }
      std::sort(ranks.begin(), ranks.end());
      const std::vector<int> candidates = problem_.Assign(ranks, hosts_[h].candidates);
      for (std::size_t r = 0; r < ranks.size(); ++r) chosen[At(ranks[r])] = candidates[r];
    }
    return chosen;
  }

 private:
  /// Forms groups by all classes; if there are too many groups, by the classes on several hosts;
  /// and if there are still too many, one group.
  void FormGroups() {
    using BlockKey = std::pair<std::size_t, std::vector<BlockNeed>>;
    using HostKey = std::pair<std::int64_t, std::vector<HostHolding>>;
    for (const bool any : {true, false}) {
      block_groups_ = GroupBy<BlockKey>(blocks_.size(), [&](std::size_t b) {
        BlockKey key{blocks_[b].ranks.size(), blocks_[b].needs};
        std::erase_if(key.second, [&](const BlockNeed& n) { return !counted_[At(n.held_class)]; });
        return key;
      });
      host_groups_ = GroupBy<HostKey>(hosts_.size(), [&](std::size_t h) {
        HostKey key{hosts_[h].slots, hosts_[h].holds};
        std::erase_if(key.second,
                      [&](const HostHolding& n) { return !counted_[At(n.held_class)]; });
        return key;
      });
      if (std::max(block_groups_.members.size(), host_groups_.members.size()) <= kExactGroups) {
        return;
      }
      for (std::size_t c = 0; c < counted_.size(); ++c) {
        counted_[c] = any && on_hosts_[c].size() > 1;
      }
    }
    std::fill(counted_.begin(), counted_.end(), false);
    block_groups_.members.assign(1, {});
    host_groups_.members.assign(1, {});
    for (std::size_t b = 0; b < blocks_.size(); ++b) block_groups_.members[0].push_back(b);
    for (std::size_t h = 0; h < hosts_.size(); ++h) host_groups_.members[0].push_back(h);
  }

  /// The bytes of counted classes that are in place, and the bytes of those classes that are on the
  /// host.
  std::pair<std::int64_t, std::int64_t> Worth(const Block& block, const Host& host) const {
    std::pair<std::int64_t, std::int64_t> worth{0, 0};
    auto held = host.holds.begin();
    for (const BlockNeed& need : block.needs) {
      while (held != host.holds.end() && held->held_class < need.held_class) ++held;
      if (held == host.holds.end()) break;
      if (held->held_class != need.held_class || !counted_[At(need.held_class)]) continue;
      worth.first += InPlace(need, held->devices);
      worth.second += need.total;
    }
    return worth;
  }

  void Transport(std::int64_t& bound) {
    std::vector<std::vector<AssignmentCost>> costs;
    std::vector<std::int64_t> supply, capacity;
    for (const auto& blocks : block_groups_.members) {
      supply.push_back(std::ssize(blocks));
      std::vector<AssignmentCost>& row = costs.emplace_back();
      for (const auto& hosts : host_groups_.members) {
        const auto [in_place, near] = Worth(blocks_[blocks[0]], hosts_[hosts[0]]);
        const auto away = std::ssize(costs) - 1 - std::ssize(row);
        row.push_back({-in_place, -near, away * away});
      }
    }
    for (const auto& hosts : host_groups_.members) {
      std::int64_t slots = 0;
      for (std::size_t h : hosts) slots += hosts_[h].slots;
      capacity.push_back(slots);
    }
    const auto flow = SolveTransport(costs, supply, capacity);
    std::vector<std::vector<std::size_t>> free(host_groups_.members.size());  // host by slot
    for (std::size_t g = 0; g < free.size(); ++g) {
      for (std::size_t h : host_groups_.members[g]) {
        free[g].insert(free[g].end(), static_cast<std::size_t>(hosts_[h].slots), h);
      }
    }
    for (std::size_t row = 0; row < flow.size(); ++row) {
      auto next = block_groups_.members[row].begin();
      for (std::size_t column = 0; column < flow[row].size(); ++column) {
        const std::int64_t amount = flow[row][column];
        if (amount == 0) continue;
        bound -= costs[row][column].first * amount;
        Refine({next, next + amount}, free[column]);
        next += amount;
      }
    }
    // Classes that are not counted: at best each block is on the host that has most of them.
    std::vector<std::int64_t> rest(hosts_.size());
    for (const Block& block : blocks_) {
      AddRest(block, rest);
      bound += *std::max_element(rest.begin(), rest.end());
      ClearRest(block, rest);
    }
  }

  /// Adds the bytes of the block in classes that are not counted, by host.
  void AddRest(const Block& block, std::vector<std::int64_t>& rest) const {
    for (const BlockNeed& need : block.needs) {
      if (counted_[At(need.held_class)]) continue;
      for (const auto& [host, devices] : on_hosts_[At(need.held_class)]) {
        rest[host] += InPlace(need, devices);
      }
    }
  }
  void ClearRest(const Block& block, std::vector<std::int64_t>& rest) const {
    for (const BlockNeed& need : block.needs) {
      for (const auto& [host, devices] : on_hosts_[At(need.held_class)]) rest[host] = 0;
    }
  }

  /// Assigns blocks of one group to slots of another by the classes that are not counted, and
  /// removes these slots from `free`. Large groups are assigned in ascending runs.
  void Refine(const std::vector<std::size_t>& blocks, std::vector<std::size_t>& free) {
    const std::size_t spare = free.size() - blocks.size();
    const std::size_t runs = (free.size() + kMostRefined - 1) / kMostRefined;
    std::vector<bool> taken(free.size());
    std::vector<std::int64_t> rest(hosts_.size());
    for (std::size_t run = 0; run < runs; ++run) {
      const auto block_at = [&](std::size_t r) { return r * blocks.size() / runs; };
      const auto slot_at = [&](std::size_t r) { return block_at(r) + r * spare / runs; };
      std::vector<std::vector<AssignmentCost>> costs;
      for (std::size_t b = block_at(run); b < block_at(run + 1); ++b) {
        const Block& block = blocks_[blocks[b]];
        AddRest(block, rest);
        std::vector<AssignmentCost>& row = costs.emplace_back();
        for (std::size_t s = slot_at(run); s < slot_at(run + 1); ++s) {
          const auto away = std::ssize(costs) - 1 - std::ssize(row);
          row.push_back({-rest[free[s]], 0, away * away});
        }
        ClearRest(block, rest);
      }
      const std::vector<std::size_t> columns = SolveAssignment(costs);
      for (std::size_t b = 0; b < columns.size(); ++b) {
        const std::size_t slot = slot_at(run) + columns[b];
        taken[slot] = true;
        blocks_on_[free[slot]].push_back(blocks[block_at(run) + b]);
      }
    }
    std::vector<std::size_t> left;
    for (std::size_t s = 0; s < free.size(); ++s) {
      if (!taken[s]) left.push_back(free[s]);
    }
    free = std::move(left);
  }

  PlacementProblem& problem_;
  const std::vector<Host> hosts_;
  const std::vector<Block> blocks_;
  std::vector<bool> counted_;  // by class: whether groups are formed by it
  const std::vector<std::vector<std::pair<std::size_t, std::int64_t>>> on_hosts_;  // by class
  Groups block_groups_, host_groups_;
  std::vector<std::vector<std::size_t>> blocks_on_;  // by host
};

}  // namespace

std::vector<int> PlaceBlocks(PlacementProblem& problem, std::int64_t& bound) {
  bound = 0;
  return BlockPlacer(problem, MakeBlockProblem(problem)).Run(bound);
}

}  // namespace tessera::ptc
