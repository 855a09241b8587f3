// SPDX-License-Identifier: Apache-2.0
#include "ptc/plan/transport.h"

#include <algorithm>
#include <optional>

#include "ptc/base/check.h"

namespace tessera::ptc {
namespace {

class Solver {
 public:
  Solver(const std::vector<std::vector<AssignmentCost>>& costs, std::vector<std::int64_t> supply,
         std::vector<std::int64_t> capacity)
      : costs_(costs),
        supply_(std::move(supply)),
        capacity_(std::move(capacity)),
        flow_(costs.size(), std::vector<std::int64_t>(capacity_.size())),
        row_price_(costs.size()),
        column_price_(capacity_.size()) {}

  std::vector<std::vector<std::int64_t>> Run() && {
    for (std::size_t row = 0; row < costs_.size(); ++row) {
      while (supply_[row] > 0) Augment(row);
    }
    return std::move(flow_);
  }

 private:
  /// Dijkstra from `start` with reduced costs, which are never negative and 0 along flow, to the
  /// nearest column with room. Then moves as much as the path allows.
  void Augment(std::size_t start) {
    const std::size_t columns = capacity_.size();
    std::vector<std::optional<AssignmentCost>> distance(columns);
    std::vector<std::size_t> row_before(columns);
    std::vector<bool> done(columns, false);
    std::vector<std::optional<AssignmentCost>> row_distance(costs_.size());
    std::vector<std::size_t> column_before(costs_.size());
    const auto visit = [&](std::size_t row, AssignmentCost at) {
      row_distance[row] = at;
      for (std::size_t c = 0; c < columns; ++c) {
        if (done[c]) continue;
        const AssignmentCost through = at + (costs_[row][c] - row_price_[row] - column_price_[c]);
        if (distance[c] && !(through < *distance[c])) continue;
        distance[c] = through;
        row_before[c] = row;
      }
    };
    visit(start, {});
    std::size_t sink = 0;
    while (true) {
      std::optional<std::size_t> nearest;
      for (std::size_t c = 0; c < columns; ++c) {
        if (!done[c] && (!nearest || *distance[c] < *distance[*nearest])) nearest = c;
      }
      TESSERA_CHECK(nearest.has_value());
      if (capacity_[*nearest] > 0) {
        sink = *nearest;
        break;
      }
      done[*nearest] = true;
      for (std::size_t row = 0; row < costs_.size(); ++row) {
        if (flow_[row][*nearest] == 0 || row_distance[row]) continue;
        column_before[row] = *nearest;
        visit(row, *distance[*nearest]);
      }
    }
    const AssignmentCost reached = *distance[sink];
    for (std::size_t row = 0; row < costs_.size(); ++row) {
      if (row_distance[row]) row_price_[row] = row_price_[row] + (reached - *row_distance[row]);
    }
    for (std::size_t c = 0; c < columns; ++c) {
      if (done[c]) column_price_[c] = column_price_[c] - (reached - *distance[c]);
    }
    const auto along_path = [&](const auto& step) {
      for (std::size_t column = sink;;) {
        const std::size_t row = row_before[column];
        step(row, column, true);
        if (row == start) return;
        column = column_before[row];
        step(row, column, false);
      }
    };
    std::int64_t amount = std::min(supply_[start], capacity_[sink]);
    along_path([&](std::size_t row, std::size_t column, bool gains) {
      if (!gains) amount = std::min(amount, flow_[row][column]);
    });
    along_path([&](std::size_t row, std::size_t column, bool gains) {
      flow_[row][column] += gains ? amount : -amount;
    });
    supply_[start] -= amount;
    capacity_[sink] -= amount;
  }

  const std::vector<std::vector<AssignmentCost>>& costs_;
  std::vector<std::int64_t> supply_, capacity_;
  std::vector<std::vector<std::int64_t>> flow_;
  std::vector<AssignmentCost> row_price_, column_price_;
};

}  // namespace

std::vector<std::vector<std::int64_t>> SolveTransport(
    const std::vector<std::vector<AssignmentCost>>& costs, std::vector<std::int64_t> supply,
    std::vector<std::int64_t> capacity) {
  return Solver(costs, std::move(supply), std::move(capacity)).Run();
}

}  // namespace tessera::ptc
