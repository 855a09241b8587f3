// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// bfloat16, the upper half of a float: sign, 8 bits of exponent, 7 of mantissa.

#include <cstdint>
#include <span>

namespace tessera::engine {

/// Rounds to nearest, ties to even, also subnormals. A value that is half a unit or more above the
/// largest finite one becomes infinite. A NaN becomes the quiet NaN of its sign.
/// \pre equal sizes, no overlap
void RoundToBf16(std::span<const float> from, std::span<std::uint16_t> to);

/// Widens exactly. A NaN becomes quiet.
/// \pre equal sizes, no overlap
void WidenFromBf16(std::span<const std::uint16_t> from, std::span<float> to);

}  // namespace tessera::engine
