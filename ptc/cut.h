// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Computes the part of a dim, a segment or an expert that one coordinate gets. All division of
/// sizes among ranks is in this file.

#include <cstdint>
#include <vector>

#include "ptc/base/result.h"
#include "ptc/box.h"
#include "ptc/mesh.h"
#include "ptc/tensor_spec.h"

namespace tessera::ptc {

/// The number of parts that the axes make: the product of their degrees.
/// \pre the axes are distinct
std::int64_t Degree(const MeshShape& mesh, const std::vector<Axis>& axes);
/// The number of the part at the coordinates `at`: their mixed-radix number, major axis first.
std::int64_t PartOf(const MeshShape& mesh, const std::vector<Axis>& axes, const Coordinates& at);

/// Advances `at` to the next coordinates along `axes`, the last axis fastest. Returns false after
/// the last ones, with `at` back at zero.
bool NextCoordinates(const MeshShape& mesh, const std::vector<Axis>& axes, Coordinates& at);

/// The range of part `part` if `size` elements are divided among `parts`: [part*c, (part+1)*c),
/// limited to `size`, where c = ceil(size/parts) rounded up to a multiple of `multiple`. The range
/// of a part without elements has begin == end.
/// \pre size >= 0, 0 <= part < parts, multiple >= 1
Interval PartRange(std::int64_t size, std::int64_t part, std::int64_t parts,
                   std::int64_t multiple = 1);

/// The range of a dim or segment of `size` elements that `cut` leaves at the coordinates `at`.
/// \pre CheckDivides(mesh, cut, size)
Interval CutRange(const MeshShape& mesh, const DimCut& cut, std::int64_t size,
                  const Coordinates& at);
/// Whether `cut` can divide `size` on this mesh.
/// \error kInvalidArgument that begins after the name of the thing: "= 10 is not divisible by …".
///     The caller prepends the name, so that a success formats no text.
Status CheckDivides(const MeshShape& mesh, const DimCut& cut, std::int64_t size);

/// Whether the rank at `at` has the expert that the tensor belongs to; true if it is no expert's.
bool HoldsExpert(const MeshShape& mesh, const TensorSpec& spec, const Coordinates& at);
/// The boxes that the cuts of dims, segments and experts leave at `at`: one per segment, ascending;
/// none if a dim has no elements left. Stages and flat cuts are not considered.
std::vector<Box> CutBoxes(const MeshShape& mesh, const TensorSpec& spec, const Coordinates& at);
/// The number of elements in those boxes.
std::int64_t CutElements(const MeshShape& mesh, const TensorSpec& spec, const Coordinates& at);

/// The axes of degree above 1 on which CutBoxes depends, in the order of kAxes.
std::vector<Axis> CutAxes(const MeshShape& mesh, const TensorSpec& spec);

}  // namespace tessera::ptc
