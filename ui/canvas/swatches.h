// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Which colour and pattern the shards of a mesh have. A swatch is a number: identity() is its hue,
/// pattern() its pattern. Swatches that differ by a multiple of kNumHues have the same hue.

#include <optional>

#include "ptc/mesh.h"

namespace tessera::ui {

/// The swatch of a shard (stage and slice), of a pipeline stage, and of a tensor slice.
struct Swatches {
  int piece = 0, stage = 0, slice = 0;
  friend bool operator==(const Swatches&, const Swatches&) = default;
};

/// Returns the swatches at `pp` and `tp` of a mesh.
///
/// Up to kNumHues shards have a hue each. With more of them and several stages, the hue is the
/// stage and the pattern the slice.
/// \param from the mesh that `shape` replaces: a shard that is split from one of its shards, or
///     merged from some, has that hue, and the parts of a shard differ by their patterns
/// \pre 0 <= pp and tp, below the degrees of `shape`
Swatches swatchesAt(const ptc::MeshShape& shape, int pp, int tp,
                    const std::optional<ptc::MeshShape>& from = {});

}  // namespace tessera::ui
