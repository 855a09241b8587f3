// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Scales of quantised weights. Each scale belongs to a block of elements of its weight, such as
/// 128 rows and 128 columns, so the two tensors have to be cut at the same elements.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ptc/base/result.h"
#include "ptc/box.h"
#include "ptc/mesh.h"
#include "ptc/tensor_spec.h"

namespace tessera::ptc {

/// The names that the weight of a scale or a zero point may have: "a.weight" for
/// "a.weight_scale_inv", "a.qweight" for "a.qzeros" and others. Empty if the name does not end as
/// names of scales do.
std::vector<std::string> WeightsOfScale(std::string_view name);

/// How elements of a weight and scales go together along one dim. One of the numbers is 1: several
/// elements share a scale, or an element is a word that packs several values with a scale each.
struct ScaleDim {
  std::int64_t elements = 1;  // of the weight; the last ones of a dim may be fewer
  std::int64_t scales = 1;
  friend bool operator==(const ScaleDim&, const ScaleDim&) = default;
};

/// One for each dim of the scale; the further dims of the weight share it. Block sizes that the
/// shapes leave open are taken to be powers of two, which blocks are in practice. Empty for one
/// scale of the whole weight. nullopt if these are not the shapes of a weight and its scales, or if
/// they are equal.
std::optional<std::vector<ScaleDim>> BlocksOfScale(const Shape& weight, const Shape& scale);

/// Turns the cuts of the weight's rule, which count elements, into cuts of its scale, which count
/// blocks.
/// \pre `blocks` is BlocksOfScale(weight, scale.shape); `scale` has the rule of the weight
/// \error kInvalidArgument if a segment does not end where a block ends
Status CutByBlocks(const Shape& weight, const std::vector<ScaleDim>& blocks, TensorSpec& scale);

/// Checks that every part of a weight comes with the scales of all its elements. Flat cuts are not
/// checked, because flat shards are gathered before they are used.
/// \error kInvalidArgument naming the weight, its part, the scales that are not there, and the
///     multiple at which the weight has to be cut; naming a scale that is cut and whose shape does
///     not say which elements it belongs to
Status CheckScales(const MeshShape& mesh, const Collection& collection);

}  // namespace tessera::ptc
