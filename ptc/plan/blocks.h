// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Blocks of consecutive ranks, and the hosts that may run them.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "ptc/plan/placement_problem.h"

namespace tessera::ptc {

/// The bytes that the ranks of a block need of one class: all together, and the one that needs
/// most.
struct BlockNeed {
  int held_class = 0;
  std::int64_t total = 0;
  std::int64_t most = 0;
  friend auto operator<=>(const BlockNeed&, const BlockNeed&) = default;
};
/// The number of devices of a host that hold one class.
struct HostHolding {
  int held_class = 0;
  std::int64_t devices = 0;
  friend auto operator<=>(const HostHolding&, const HostHolding&) = default;
};

/// A block of ranks, by position.
struct Block {
  std::vector<int> ranks;
  std::vector<BlockNeed> needs;  // by class
};
/// A host, or a part of a large host. Candidates by position.
struct Host {
  std::vector<int> candidates;
  std::vector<HostHolding> holds;  // by class
  std::int64_t slots = 0;          // the number of blocks that fit
};

/// A bound on the bytes in place if `devices` devices of a host hold the class: at most what the
/// block needs, and at most what that many ranks need.
std::int64_t InPlace(const BlockNeed& need, std::int64_t devices);

struct BlockProblem {
  std::vector<Host> hosts;
  std::vector<Block> blocks;
  /// By class: the positions of hosts, ascending, with the number of their devices that hold it.
  std::vector<std::vector<std::pair<std::size_t, std::int64_t>>> on_hosts;
};
/// Makes blocks of the size of the hosts if there are enough hosts of that size, else of the next
/// smaller size of a host, and at least of 1 rank.
BlockProblem MakeBlockProblem(PlacementProblem& problem);

}  // namespace tessera::ptc
