// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Boxes cut into smaller ones.

#include <cstdint>
#include <vector>

#include "ptc/box.h"

namespace tessera::ptc {

/// Cuts `box` into up to `parts` boxes of nearly equal size, ascending. The cut is along the
/// outermost dim that is long enough for nearly equal sizes, else along the longest dim. There are
/// fewer boxes if that dim is shorter than `parts`.
/// \pre parts >= 1
std::vector<Box> SplitEvenly(const Box& box, std::int64_t parts);

/// Cuts `box` into boxes of at most `most` elements, ascending, each a row-major range of `box`.
/// \pre most >= 1
std::vector<Box> SplitInOrder(const Box& box, std::int64_t most);

}  // namespace tessera::ptc
