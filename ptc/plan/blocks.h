// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Blocks of consecutive ranks and the hosts that may take them.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "ptc/plan/placement_problem.h"

namespace tessera::ptc {

/// What the ranks of a block need of one class: all together, and the one that needs most.
struct BlockNeed {
  int held_class = 0;
  std::int64_t total = 0;
  std::int64_t most = 0;
  friend auto operator<=>(const BlockNeed&, const BlockNeed&) = default;
};
/// Devices of a host that hold one class.
struct HostHolding {
  int held_class = 0;
  std::int64_t devices = 0;
  friend auto operator<=>(const HostHolding&, const HostHolding&) = default;
};

/// Positions of ranks.
struct Block {
  std::vector<int> ranks;
  std::vector<BlockNeed> needs;  // by class
};
/// A host, or a part of a large one; positions of candidates.
struct Host {
  std::vector<int> candidates;
  std::vector<HostHolding> holds;  // by class
  std::int64_t slots = 0;          // blocks that fit
};

/// No more can be in place than the block needs, nor than so many devices can have.
std::int64_t InPlace(const BlockNeed& need, std::int64_t devices);

struct BlockProblem {
  std::vector<Host> hosts;
  std::vector<Block> blocks;
  /// By class: positions of hosts, ascending, and how many of their devices hold it.
  std::vector<std::vector<std::pair<std::size_t, std::int64_t>>> on_hosts;
};
/// Blocks as large as hosts, if enough hosts are: else as the next smaller ones, at least 1.
BlockProblem MakeBlockProblem(PlacementProblem& problem);

}  // namespace tessera::ptc
