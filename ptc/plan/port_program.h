// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The linear program of loads that use several ports at once. The solution divides each load among
/// its ways so that the last port finishes as early as possible, and the prices of ports prove it.
///
/// Minimize t such that for each port (fixed bytes + bytes of the parts through it) / speed <= t,
/// and the parts of each load sum to one. The solver is the primal simplex method on a dense
/// tableau (Dantzig 1963) with the rule of the largest coefficient. If the time does not improve
/// for long, the rule of the first coefficient applies, so that the method terminates (Bland 1977).
/// The time is a basic variable throughout; its row is the objective.

#include <cstddef>
#include <optional>
#include <vector>

namespace tessera::ptc {

struct PortProgram {
  struct Load {
    std::vector<std::vector<std::size_t>> ways;  // at least two; each a list of different ports
    double bytes = 0;                            // > 0
    std::size_t start = 0;                       // the way of the whole load at the beginning
  };
  std::vector<double> speeds;  // by port, > 0
  std::vector<double> fixed;   // by port, bytes
  std::vector<Load> loads;
  double floor = 0;  // > 0; shorter times are not worth a search
};
struct PortSolution {
  std::vector<std::vector<double>> parts;  // by load and way; the sum per load is about one
  std::vector<double> prices;              // per byte, by port; empty if the floor was reached
};

/// Computes with doubles in a fixed order, so the solution is equal on every machine. Callers must
/// count the resulting loads in whole bytes.
/// \return nullopt if the tableau has more than half a million cells, because solving it would take
///     longer than the rest of a plan; or if simplex does not terminate in a bounded number of
///     steps
std::optional<PortSolution> Solve(const PortProgram& program);

}  // namespace tessera::ptc
