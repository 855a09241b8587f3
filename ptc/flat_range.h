// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Converts a contiguous range of elements into boxes.

#include <vector>

#include "ptc/box.h"

namespace tessera::ptc {

/// Lays the elements of `boxes` end to end, each box row-major, and returns those at positions
/// [range.begin, range.end) as ascending boxes. A box of n dims yields at most max(1, 2n-1) of
/// them, each a contiguous range of that box.
/// \pre the range is inside the sequence
std::vector<Box> FlatRange(const std::vector<Box>& boxes, Interval range);

}  // namespace tessera::ptc
