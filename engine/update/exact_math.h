// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Functions whose results have the same bits on every machine. They use additions, products and
/// quotients only, each of which IEEE 754 rounds in one way. The last bit of `pow` and `cos`
/// differs between versions of the mathematics library.

#include <cstdint>

namespace tessera::engine {

/// `base` to the power `exponent`, by repeated squaring. The relative error is at most about
/// `exponent` * 2^-53.
/// \pre exponent >= 0
double Power(double base, std::int64_t exponent);

struct CosSin {
  double cos, sin;
};
/// Cosine and sine of 2 pi * `turns`, with an absolute error below 1e-15.
/// \pre 0 <= turns < 1
CosSin CosSinOfTurns(double turns);

}  // namespace tessera::engine
