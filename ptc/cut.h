// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What one DimCut leaves of a range of elements.

#include <cstdint>
#include <string>
#include <vector>

#include "ptc/base/result.h"
#include "ptc/box.h"
#include "ptc/mesh.h"
#include "ptc/tensor_spec.h"

namespace tessera::ptc {

/// Number of parts that the axes make. \pre the axes are distinct
std::int64_t Degree(const MeshShape& mesh, const std::vector<Axis>& axes);
/// Which of the parts `at` selects: the mixed-radix number of its coordinates, major first.
std::int64_t PartOf(const MeshShape& mesh, const std::vector<Axis>& axes, const Coordinates& at);

/// Counts `at` through all coordinates along `axes`, the last axis fastest; false once round.
bool NextCoordinates(const MeshShape& mesh, const std::vector<Axis>& axes, Coordinates& at);

/// Range of part `part` when `parts` share `size` elements: [part*c, (part+1)*c) as far as there
/// are elements, c = ceil(size/parts) rounded up to a multiple of `multiple`; begin == end where
/// there are none. \pre size >= 0, 0 <= part < parts, multiple >= 1
Interval PartRange(std::int64_t size, std::int64_t part, std::int64_t parts,
                   std::int64_t multiple = 1);

/// What `cut` leaves at `at` of a dim or segment of `size` elements.
/// \pre CheckDivides(mesh, cut, size, …)
Interval CutRange(const MeshShape& mesh, const DimCut& cut, std::int64_t size,
                  const Coordinates& at);
/// Whether `cut` can divide `size` on this mesh. `what` names the tensor and the dim in the error.
Status CheckDivides(const MeshShape& mesh, const DimCut& cut, std::int64_t size,
                    const std::string& what);

/// Whether the rank at `at` has the tensor as far as experts are dealt over ep.
bool HoldsExpert(const MeshShape& mesh, const TensorSpec& spec, const Coordinates& at);
/// What the cuts of dims, segments and experts leave: a box a segment, ascending; none where a dim
/// has nothing left. Stages and flat cuts are not looked at.
std::vector<Box> CutBoxes(const MeshShape& mesh, const TensorSpec& spec, const Coordinates& at);
/// Elements of those boxes.
std::int64_t CutElements(const MeshShape& mesh, const TensorSpec& spec, const Coordinates& at);

/// Axes of degree above 1 on which CutBoxes depends, in the order of kAxes.
std::vector<Axis> CutAxes(const MeshShape& mesh, const TensorSpec& spec);

}  // namespace tessera::ptc
