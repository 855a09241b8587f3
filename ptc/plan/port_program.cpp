// SPDX-License-Identifier: Apache-2.0
#include "ptc/plan/port_program.h"

#include <algorithm>

namespace tessera::ptc {
namespace {

/// Coefficients up to this size count as 0. Parts are at most one, and times are about one.
constexpr double kTinyCoefficient = 1e-9;
constexpr std::size_t kMostTableauCells = std::size_t{1} << 19U;

/// The columns are the ways of all loads, the slacks of ports, and the right side. The rows are the
/// ports, then the loads.
class PortTableau {
 public:
  explicit PortTableau(const PortProgram& program)
      : program_(program), num_ports_(program.speeds.size()) {
    for (const PortProgram::Load& load : program.loads) {
      first_way_.push_back(num_ways_);
      num_ways_ += load.ways.size();
    }
    width_ = num_ways_ + num_ports_ + 1;
    basic_.resize(num_ports_ + program.loads.size());
  }

  std::size_t num_cells() const { return width_ * basic_.size(); }

  /// Returns false if it finds no optimum within a limited number of steps.
  bool Run() {
    Fill();
    const std::size_t patience = 2 * basic_.size();
    std::size_t stalled = 0;
    for (std::size_t pivots = 0; pivots < 50 * basic_.size(); ++pivots) {
      const double before = Right(time_row_);
      if (before <= 1) return true;
      const std::size_t column = Entering(stalled > patience);
      if (column == Last()) return true;
      const std::size_t row = Leaving(column);
      if (row == basic_.size()) return false;
      Pivot(row, column);
      stalled = Right(time_row_) < before - kTinyCoefficient ? 0 : stalled + 1;
    }
    return false;
  }

  PortSolution Solution() const {
    PortSolution solution;
    for (const PortProgram::Load& load : program_.loads) {
      solution.parts.emplace_back(load.ways.size());
    }
    for (std::size_t row = 0; row < basic_.size(); ++row) {
      if (row == time_row_ || basic_[row] >= num_ways_) continue;
      const auto next = std::upper_bound(first_way_.begin(), first_way_.end(), basic_[row]);
      const auto load = static_cast<std::size_t>(next - first_way_.begin()) - 1;
      solution.parts[load][basic_[row] - first_way_[load]] = std::max(Right(row), 0.0);
    }
    if (Right(time_row_) <= 1) return solution;
    for (std::size_t port = 0; port < num_ports_; ++port) {
      const double price = -cells_[time_row_][num_ways_ + port];
      solution.prices.push_back(std::max(price, 0.0) / program_.speeds[port]);
    }
    return solution;
  }

 private:
  std::size_t Last() const { return width_ - 1; }
  double Right(std::size_t row) const { return cells_[row][Last()]; }

  /// Puts each load wholly on its way `start`. The time is that of the port that finishes last
  /// then. The unit of time is the floor.
  void Fill() {
    cells_.assign(basic_.size(), std::vector<double>(width_));
    for (std::size_t port = 0; port < num_ports_; ++port) {
      basic_[port] = num_ways_ + port;
      cells_[port][basic_[port]] = 1;
      cells_[port][Last()] = -InFloors(program_.fixed[port], port);
    }
    for (std::size_t l = 0; l < program_.loads.size(); ++l) {
      const PortProgram::Load& load = program_.loads[l];
      std::vector<double>& row = cells_[num_ports_ + l];
      row[Last()] = 1;
      for (std::size_t w = 0; w < load.ways.size(); ++w) {
        row[first_way_[l] + w] = 1;
        for (std::size_t port : load.ways[w]) {
          cells_[port][first_way_[l] + w] = InFloors(load.bytes, port);
        }
      }
      basic_[num_ports_ + l] = first_way_[l] + load.start;
      for (std::size_t port : load.ways[load.start]) Subtract(port, num_ports_ + l, basic_);
    }
    // Each row of a port is now "... + slack - time = -(the time of its bytes)".
    for (std::size_t port = 1; port < num_ports_; ++port) {
      if (Right(port) < Right(time_row_)) time_row_ = port;
    }
    for (double& cell : cells_[time_row_]) cell = -cell;
    for (std::size_t port = 0; port < num_ports_; ++port) {
      if (port == time_row_) continue;
      for (std::size_t c = 0; c < width_; ++c) cells_[port][c] += cells_[time_row_][c];
    }
  }
  double InFloors(double bytes, std::size_t port) const {
    return bytes / program_.speeds[port] / program_.floor;
  }
  /// Eliminates the basic variable of row `pivot` from `row`.
  void Subtract(std::size_t row, std::size_t pivot, const std::vector<std::size_t>& basic) {
    const double times = cells_[row][basic[pivot]];
    if (times == 0) return;
    for (std::size_t c = 0; c < width_; ++c) cells_[row][c] -= times * cells_[pivot][c];
    cells_[row][basic[pivot]] = 0;
  }

  /// Returns a variable that reduces the time, or Last() if there is none.
  std::size_t Entering(bool is_first) const {
    const std::vector<double>& gains = cells_[time_row_];
    std::size_t best = Last();
    for (std::size_t c = 0; c < Last(); ++c) {
      if (gains[c] <= kTinyCoefficient || (best != Last() && gains[c] <= gains[best])) continue;
      best = c;
      if (is_first) break;
    }
    return best;
  }
  /// Returns the row whose variable reaches zero first; among equal ones, the one with the first
  /// variable. If there is none, returns the number of rows.
  std::size_t Leaving(std::size_t column) const {
    std::size_t best = basic_.size();
    double least = 0;
    for (std::size_t row = 0; row < basic_.size(); ++row) {
      if (row == time_row_ || cells_[row][column] <= kTinyCoefficient) continue;
      const double ratio = std::max(Right(row), 0.0) / cells_[row][column];
      const bool is_less =
          best == basic_.size() || ratio < least || (ratio == least && basic_[row] < basic_[best]);
      if (!is_less) continue;
      best = row;
      least = ratio;
    }
    return best;
  }
  void Pivot(std::size_t row, std::size_t column) {
    const double pivot = cells_[row][column];
    for (double& cell : cells_[row]) cell /= pivot;
    cells_[row][column] = 1;
    basic_[row] = column;
    for (std::size_t other = 0; other < basic_.size(); ++other) {
      if (other != row) Subtract(other, row, basic_);
    }
  }

  const PortProgram& program_;
  std::size_t num_ports_;
  std::size_t num_ways_ = 0;
  std::size_t width_ = 0;
  std::size_t time_row_ = 0;            // the row of a port in which the time is basic
  std::vector<std::size_t> first_way_;  // by load
  std::vector<std::size_t> basic_;      // by row: its basic column; unused in the row of the time
  std::vector<std::vector<double>> cells_;
};

}  // namespace

std::optional<PortSolution> Solve(const PortProgram& program) {
  PortTableau tableau(program);
  if (tableau.num_cells() > kMostTableauCells || !tableau.Run()) return std::nullopt;
  return tableau.Solution();
}

}  // namespace tessera::ptc
