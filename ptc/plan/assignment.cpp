// SPDX-License-Identifier: Apache-2.0
#include "ptc/plan/assignment.h"

#include <optional>

#include "ptc/base/check.h"

namespace tessera::ptc {

std::vector<std::size_t> SolveAssignment(const std::vector<std::vector<AssignmentCost>>& costs) {
  const std::size_t rows = costs.size();
  if (rows == 0) return {};
  const std::size_t columns = costs[0].size();
  TESSERA_CHECK(columns >= rows);

  // Invariant: costs[r][c] - row_price[r] - column_price[c] >= 0, and 0 on assigned pairs.
  std::vector<AssignmentCost> row_price(rows);
  std::vector<AssignmentCost> column_price(columns);
  std::vector<std::optional<std::size_t>> row_of(columns);

  for (std::size_t start = 0; start < rows; ++start) {
    // Dijkstra over columns from row `start`, with reduced costs, to the nearest free column.
    std::vector<std::optional<AssignmentCost>> distance(columns);
    std::vector<std::optional<std::size_t>> previous(columns);  // previous column; none: `start`
    std::vector<bool> done(columns, false);
    std::vector<std::size_t> visited;
    std::size_t row = start;
    std::optional<std::size_t> from_column;
    AssignmentCost reached;
    std::size_t sink = 0;
    while (true) {
      std::optional<std::size_t> nearest;
      for (std::size_t c = 0; c < columns; ++c) {
        if (done[c]) continue;
        const AssignmentCost through = reached + (costs[row][c] - row_price[row] - column_price[c]);
        if (!distance[c] || through < *distance[c]) {
          distance[c] = through;
          previous[c] = from_column;
        }
        if (!nearest || *distance[c] < *distance[*nearest]) nearest = c;
      }
      reached = *distance[*nearest];
      if (!row_of[*nearest]) {
        sink = *nearest;
        break;
      }
      done[*nearest] = true;
      visited.push_back(*nearest);
      from_column = nearest;
      row = *row_of[*nearest];
    }
    row_price[start] = row_price[start] + reached;
    for (std::size_t c : visited) {
      const AssignmentCost slack = reached - *distance[c];
      row_price[*row_of[c]] = row_price[*row_of[c]] + slack;
      column_price[c] = column_price[c] - slack;
    }
    // Flip the path.
    std::size_t column = sink;
    while (previous[column]) {
      row_of[column] = row_of[*previous[column]];
      column = *previous[column];
    }
    row_of[column] = start;
  }

  std::vector<std::size_t> column_of(rows);
  for (std::size_t c = 0; c < columns; ++c) {
    if (row_of[c]) column_of[*row_of[c]] = c;
  }
  return column_of;
}

}  // namespace tessera::ptc
