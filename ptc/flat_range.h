// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A contiguous range of elements as boxes.

#include <vector>

#include "ptc/box.h"

namespace tessera::ptc {

/// The elements at positions [range.begin, range.end) of `boxes`, laid end to end and each
/// row-major, as ascending boxes: at most max(1, 2n-1) of each box of n dims, each one contiguous
/// range of it. \pre the range lies inside
std::vector<Box> FlatRange(const std::vector<Box>& boxes, Interval range);

}  // namespace tessera::ptc
