// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Computes the elements that old and new parts of a tensor have in common.

#include <cstdint>
#include <vector>

#include "ptc/box.h"

namespace tessera::ptc {

/// The number of elements that exactly the old parts of one set and the new parts of another hold.
struct Overlap {
  int from = 0;  // index into Overlay::from_sets
  int to = 0;    // index into Overlay::to_sets
  std::int64_t elements = 0;
};
struct Overlay {
  std::vector<std::vector<int>> from_sets;  // each an ascending list of parts
  std::vector<std::vector<int>> to_sets;
  std::vector<Overlap> overlaps;  // ascending by (from, to), each pair once
};

/// Sweeps one dim after the other and cuts at all starts and ends of the boxes that reach into the
/// current slab. Parts may be equal or overlap, as replicas do.
/// \pre all boxes have the same rank
Overlay MakeOverlay(const std::vector<std::vector<Box>>& from,
                    const std::vector<std::vector<Box>>& to);

}  // namespace tessera::ptc
