// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Boxes cut into smaller ones.

#include <cstdint>
#include <vector>

#include "ptc/box.h"

namespace tessera::ptc {

/// Up to `parts` boxes of nearly equal size, ascending: along the outermost dim that is long enough
/// for them to differ by little, else along the longest; fewer where that one is shorter.
/// \pre parts >= 1
std::vector<Box> SplitEvenly(const Box& box, std::int64_t parts);

/// Boxes of at most `most` elements, ascending, each one row-major range of `box`. \pre most >= 1
std::vector<Box> SplitInOrder(const Box& box, std::int64_t most);

}  // namespace tessera::ptc
