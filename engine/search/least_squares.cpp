// SPDX-License-Identifier: Apache-2.0
#include "engine/search/least_squares.h"

#include <algorithm>
#include <cmath>

namespace tessera::engine {

std::vector<double> FitCosts(std::span<const Equation> equations, std::size_t unknowns) {
  // Columns are scaled to length 1: costs differ by ten orders of magnitude.
  std::vector<double> length(unknowns, 0);
  for (const Equation& equation : equations) {
    for (std::size_t i = 0; i < unknowns; ++i) {
      length[i] += std::pow(equation.coefficients[i] / equation.value, 2);
    }
  }
  for (double& l : length) l = std::sqrt(l);

  std::vector<double> normal(unknowns * unknowns, 0), gradient(unknowns, 0), x(unknowns, 0);
  for (const Equation& equation : equations) {
    std::vector<double> row(unknowns, 0);
    for (std::size_t i = 0; i < unknowns; ++i) {
      if (length[i] > 0) row[i] = equation.coefficients[i] / equation.value / length[i];
    }
    for (std::size_t i = 0; i < unknowns; ++i) {
      gradient[i] -= row[i];  // every right-hand side is 1
      for (std::size_t j = 0; j < unknowns; ++j) normal[i * unknowns + j] += row[i] * row[j];
    }
  }
  constexpr int kSweeps = 200'000;
  constexpr double kSmall = 1e-14;
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    double change = 0;
    for (std::size_t i = 0; i < unknowns; ++i) {
      if (length[i] == 0) continue;
      const double next = std::max(0.0, x[i] - gradient[i] / normal[i * unknowns + i]);
      const double step = next - x[i];
      if (step == 0) continue;
      x[i] = next;
      change = std::max(change, std::abs(step));
      for (std::size_t j = 0; j < unknowns; ++j) gradient[j] += step * normal[j * unknowns + i];
    }
    if (change < kSmall) break;
  }
  for (std::size_t i = 0; i < unknowns; ++i) x[i] = length[i] > 0 ? x[i] / length[i] : 0;
  return x;
}

}  // namespace tessera::engine
