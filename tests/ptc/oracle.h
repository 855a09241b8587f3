// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What the property tests of ptc compare with: ownership element by element, written from the
/// definitions and sharing no code with ptc's boxes, cells or plans.

#include <cstdint>
#include <vector>

#include "ptc/layout.h"

namespace tessera::test {

/// For each element of the tensor in row-major order, whether the rank holds it. Which stage has
/// which layer is computed here too, but for balanced stages, of which only the fullest is defined:
/// those are the layout's.
std::vector<bool> HeldElements(const ptc::Layout& layout, int rank, int tensor);

/// Row-major indices in the uncut tensor of the elements of a box, in the box's row-major order.
std::vector<std::size_t> ElementsOf(const ptc::Shape& shape, const ptc::Box& box);

}  // namespace tessera::test
