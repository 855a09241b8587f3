// SPDX-License-Identifier: Apache-2.0
#include "ptc/plan/block_placement.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "ptc/plan/assignment.h"
#include "ptc/plan/auction.h"
#include "ptc/plan/blocks.h"
#include "ptc/plan/placement.h"
#include "ptc/plan/transport.h"

namespace tessera::ptc {
namespace {

std::size_t At(int index) { return static_cast<std::size_t>(index); }

/// Blocks and hosts in one assignment problem inside a pair of groups.
constexpr std::size_t kMostRefined = 256;
/// Pairs of blocks and slots in an auction, and its last step as a part of the best pair.
constexpr std::size_t kMostPairs = std::size_t{1} << 23U;
constexpr std::int64_t kSteps = 100'000;
constexpr std::int64_t kLeastStep = 1;

/// Members with equal keys, in the order of the first of each.
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
    if (std::find(counted_.begin(), counted_.end(), false) != counted_.end()) BidForHosts(bound);
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
  /// Groups by all classes; if they are too many, by those on several hosts; at last by none.
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

  /// Of counted classes, with the sum over all that the host has any of as the second.
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
    std::vector<std::vector<std::size_t>> free(host_groups_.members.size());  // a host a slot
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
    // What the groups do not count is at best where most of it is, for each block.
    std::vector<std::int64_t> rest(hosts_.size());
    for (const Block& block : blocks_) {
      AddRest(block, rest);
      bound += *std::max_element(rest.begin(), rest.end());
      ClearRest(block, rest);
    }
  }

  /// Bytes of the block by host, of classes that are not counted.
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

  /// Where groups do not go by all classes: blocks bid for hosts, each for itself. What they get
  /// counts if it is more, and the bound if it is less.
  void BidForHosts(std::int64_t& bound) {
    std::vector<std::size_t> host_of;  // by slot
    std::vector<int> first_slot;
    for (std::size_t h = 0; h < hosts_.size(); ++h) {
      first_slot.push_back(static_cast<int>(host_of.size()));
      host_of.insert(host_of.end(), At(static_cast<int>(hosts_[h].slots)), h);
    }
    std::vector<std::vector<Wish>> wishes;
    std::vector<std::int64_t> in_place(hosts_.size());
    std::vector<std::size_t> holding;
    std::int64_t most = 0;
    std::size_t pairs = 0;
    for (const Block& block : blocks_) {
      for (const BlockNeed& need : block.needs) {
        for (const auto& [host, devices] : on_hosts_[At(need.held_class)]) {
          if (in_place[host] == 0) holding.push_back(host);
          in_place[host] += InPlace(need, devices);
        }
      }
      std::vector<Wish>& of_block = wishes.emplace_back();
      for (std::size_t host : holding) {
        for (int slot = 0; slot < hosts_[host].slots; ++slot) {
          of_block.push_back({first_slot[host] + slot, in_place[host]});
        }
        most = std::max(most, std::exchange(in_place[host], 0));
      }
      holding.clear();
      pairs += of_block.size();
      if (pairs > kMostPairs) return;
    }
    const Auction auction =
        HoldAuction(wishes, static_cast<int>(host_of.size()), std::max(most / kSteps, kLeastStep));
    bound = std::min(bound, auction.bound);
    std::vector<std::int64_t> chosen(blocks_.size());
    for (std::size_t h = 0; h < hosts_.size(); ++h) {
      for (std::size_t b : blocks_on_[h]) {
        const auto of_host = std::find_if(wishes[b].begin(), wishes[b].end(), [&](const Wish& w) {
          return host_of[At(w.object)] == h;
        });
        if (of_host != wishes[b].end()) chosen[b] = of_host->value;
      }
    }
    if (auction.value <= std::accumulate(chosen.begin(), chosen.end(), std::int64_t{0})) return;
    for (auto& blocks : blocks_on_) blocks.clear();
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      blocks_on_[host_of[At(auction.object_of[b])]].push_back(b);
    }
  }

  /// Puts blocks of one group into slots of another, by what the groups do not count; takes the
  /// slots out of `free`. Many are dealt in ascending runs.
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
  std::vector<bool> counted_;  // by class: whether groups go by it
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
