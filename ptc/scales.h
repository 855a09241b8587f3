// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Scales of quantised weights. Each scale belongs to a block of elements of its weight, such as
/// 128 rows and 128 columns, so the two tensors have to be cut at the same elements.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ptc/base/result.h"
#include "ptc/box.h"
#include "ptc/mesh.h"
#include "ptc/tensor_spec.h"

namespace tessera::ptc {

/// The names that the weight of a scale may have: "a.weight" for "a.weight_scale_inv",
/// "a.weight_packed" and others. Empty if the name does not end as names of scales do.
std::vector<std::string> WeightsOfScale(std::string_view name);

/// The size of a block along each dim; 1 where each element has its own scale. A last block may be
/// smaller. Sizes that the shapes leave open are taken to be powers of two, which blocks are in
/// practice. An empty shape for one scale of the whole weight. nullopt if these are not the shapes
/// of a weight and its scales, or if no dim has blocks.
std::optional<Shape> BlocksOfScale(const Shape& weight, const Shape& scale);

/// Turns the cuts of the weight's rule, which count elements, into cuts of its scale, which count
/// blocks.
/// \pre `blocks` is BlocksOfScale(weight, scale.shape); `scale` has the rule of the weight
/// \error kInvalidArgument if a segment does not end where a block ends
Status CutByBlocks(const Shape& weight, const Shape& blocks, TensorSpec& scale);

/// Checks that every part of a weight comes with the scales of all its elements. Flat cuts are not
/// checked, because flat shards are gathered before they are used.
/// \error kInvalidArgument naming the weight, its part, the scales that are not there, and the
///     multiple at which the weight has to be cut
Status CheckScales(const MeshShape& mesh, const Collection& collection);

}  // namespace tessera::ptc
