// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The linear program of loads that go through several ports at once: in which parts they go which
/// way so that the last port is done first, and the prices of ports that prove it.
///
/// Minimize t, so that for each port (fixed + bytes of the parts that go through it) / speed <= t
/// and the parts of each load sum to one. Primal simplex on a dense tableau (Dantzig 1963) with the
/// largest coefficient first; where that stalls, the first one, so that it ends (Bland 1977). The
/// time stays basic throughout: its row is the objective.

#include <cstddef>
#include <optional>
#include <vector>

namespace tessera::ptc {

struct PortProgram {
  struct Load {
    std::vector<std::vector<std::size_t>> ways;  // at least two; each has ports, each of them once
    double bytes = 0;                            // > 0
    std::size_t start = 0;                       // the way that all of it goes to begin with
  };
  std::vector<double> speeds;  // by port, > 0
  std::vector<double> fixed;   // by port, bytes
  std::vector<Load> loads;
  double floor = 0;  // no need to be done before, > 0
};
struct PortSolution {
  std::vector<std::vector<double>> parts;  // by load and way; about one in sum
  std::vector<double> prices;              // of a byte, by port; none where the floor was reached
};

/// Doubles, in an order that is fixed: equal on every machine. Whoever uses the solution counts
/// what it says in whole bytes.
/// \returns nullopt where the tableau has more than half a million cells, which would take longer
///     than the rest of a plan, or where simplex does not end
std::optional<PortSolution> Solve(const PortProgram& program);

}  // namespace tessera::ptc
