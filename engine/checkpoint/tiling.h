// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Checks that boxes tile a tensor without gap or overlap.

#include <optional>
#include <vector>

#include "ptc/box.h"

namespace tessera::checkpoint {

/// The first flaw of a tiling.
struct TilingFlaw {
  bool missing = false;  // `where` is in no box; otherwise it is in two
  ptc::Box where = ptc::Box::Scalar();
  friend bool operator==(const TilingFlaw&, const TilingFlaw&) = default;
};

/// Returns nullopt if every element of `whole` is in exactly one of `boxes`.
///
/// The region is bisected as in a k-d tree (Overmars and Yap, SIAM J. Computing 20, 1991), at the
/// median of the boxes' faces. A region with few boxes is examined pair by pair. n boxes of a
/// d-dimensional tensor take about n^(d/2) log n steps at worst, and n log n if they form a grid.
/// \pre every box lies in `whole`
std::optional<TilingFlaw> FindTilingFlaw(const ptc::Box& whole, const std::vector<ptc::Box>& boxes);

}  // namespace tessera::checkpoint
