// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Totals of the pieces of each rank of a layout. They add up to what its device uses, without the
/// rounding of pieces.

#include <cstdint>
#include <vector>

#include "ptc/layout.h"

namespace tessera::engine {

struct Holding {
  std::int64_t pieces = 0;           // boxes of tensors
  std::int64_t parameter_bytes = 0;  // role param
  std::int64_t optimizer_bytes = 0;  // masters and moments
  /// Of each parameter, f32: a second piece with the same box (engine/store/allocate.h).
  std::int64_t gradient_bytes = 0;
  std::int64_t other_bytes = 0;  // all other roles
  std::int64_t bytes() const {
    return parameter_bytes + optimizer_bytes + gradient_bytes + other_bytes;
  }
  friend bool operator==(const Holding&, const Holding&) = default;
};

Holding HoldingOf(const ptc::Layout& layout, int rank);
/// One entry per rank, in rank order. Expands the whole layout, so callers should keep the result.
std::vector<Holding> HoldingsOf(const ptc::Layout& layout);

}  // namespace tessera::engine
