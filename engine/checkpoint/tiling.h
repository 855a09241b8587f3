// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Whether boxes cut a tensor without gap or overlap.

#include <optional>
#include <vector>

#include "ptc/box.h"

namespace tessera::checkpoint {

/// The first thing that is wrong with a tiling.
struct TilingFlaw {
  bool missing = false;  // `where` lies in no box; otherwise in two of them
  ptc::Box where = ptc::Box::Scalar();
  friend bool operator==(const TilingFlaw&, const TilingFlaw&) = default;
};

/// nullopt if every element of `whole` lies in exactly one of `boxes`.
///
/// Bisection as in k-d trees (Overmars and Yap, SIAM J. Computing 20, 1991): a region with few
/// boxes is examined pair by pair, a larger one is halved at the median of the boxes' faces. n
/// boxes of a d-dimensional tensor take about n^(d/2) log n steps at worst and n log n for grids.
/// \pre every box lies in whole
std::optional<TilingFlaw> FindTilingFlaw(const ptc::Box& whole, const std::vector<ptc::Box>& boxes);

}  // namespace tessera::checkpoint
