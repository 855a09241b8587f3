// SPDX-License-Identifier: Apache-2.0

// Compiled with -ffp-contract=off: without fused multiply-adds every machine rounds alike.
#include "engine/update/exact_math.h"

#include <numbers>

#include "ptc/base/check.h"

namespace tessera::engine {

double Power(double base, std::int64_t exponent) {
  TESSERA_CHECK(exponent >= 0);
  double power = 1;
  for (; exponent > 0; exponent /= 2) {
    if (exponent % 2 == 1) power *= base;
    base *= base;
  }
  return power;
}

// Taylor series inside an octant, then quarter turns.
CosSin CosSinOfTurns(double turns) {
  const int quarter = static_cast<int>(turns * 4 + 0.5);
  const double x = 2 * std::numbers::pi * (turns - quarter * 0.25);
  double c = 1, s = 1;
  for (int k = 18; k >= 2; k -= 2) {  // (pi / 4)^20 / 20! < 1e-20
    c = 1 - c * (x * x) / (k * (k - 1));
    s = 1 - s * (x * x) / (k * (k + 1));
  }
  s *= x;
  switch (quarter % 4) {
    case 0:
      return {c, s};
    case 1:
      return {-s, c};
    case 2:
      return {-c, -s};
    default:
      return {s, -c};
  }
}

}  // namespace tessera::engine
