// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Least squares with unknowns that cannot be negative, to fit costs to measured times.

#include <span>
#include <vector>

namespace tessera::engine {

/// One equation: the sum of coefficients[i] * x[i] should be `value`.
struct Equation {
  std::vector<double> coefficients;  // not negative
  double value = 0;                  // above 0
};

/// The x >= 0 that minimises the sum of squared *relative* errors, by coordinate descent on the
/// normal equations (Franc, Hlaváč and Navara, CAIP 2005), which converges for every start.
/// \pre all equations have `unknowns` coefficients
std::vector<double> FitCosts(std::span<const Equation> equations, std::size_t unknowns);

}  // namespace tessera::engine
