// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/pareto_front.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace tessera::ui {

double moveSeconds(const engine::Candidate& candidate) {
  return candidate.current ? 0 : candidate.pause_seconds;
}

std::vector<int> paretoFront(const std::vector<engine::Candidate>& candidates) {
  std::vector<int> order;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (candidates[i].fits() && candidates[i].step_seconds > 0)
      order.push_back(static_cast<int>(i));
  }
  const auto at = [&](int i) -> const engine::Candidate& {
    return candidates[static_cast<std::size_t>(i)];
  };
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    return std::pair(at(a).step_seconds, moveSeconds(at(a))) <
           std::pair(at(b).step_seconds, moveSeconds(at(b)));
  });
  std::vector<int> front;
  double best = std::numeric_limits<double>::infinity();
  for (const int i : order) {
    if (moveSeconds(at(i)) >= best) continue;
    best = moveSeconds(at(i));
    front.push_back(i);
  }
  return front;
}

}  // namespace tessera::ui
