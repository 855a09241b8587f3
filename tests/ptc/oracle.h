// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The reference for the property tests of ptc: ownership element by element, written from the
/// definitions. It shares no code with the boxes, cells and plans of ptc.

#include <cstdint>
#include <vector>

#include "ptc/layout.h"

namespace tessera::test {

/// For each element of the tensor in row-major order, whether the rank holds it. The stages of
/// layers are computed here too, except balanced stages, which are taken from the layout because
/// only the bytes of the fullest stage are defined.
std::vector<bool> HeldElements(const ptc::Layout& layout, int rank, int tensor);

/// The row-major indices in the uncut tensor of the elements of a box, in the box's row-major
/// order.
std::vector<std::size_t> ElementsOf(const ptc::Shape& shape, const ptc::Box& box);

}  // namespace tessera::test
