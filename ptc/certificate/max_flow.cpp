// SPDX-License-Identifier: Apache-2.0
#include "ptc/certificate/max_flow.h"

#include <algorithm>

#include "ptc/base/check.h"

namespace tessera::ptc {

void MaxFlow::AddEdge(std::size_t from, std::size_t to, Wide capacity) {
  TESSERA_DCHECK(capacity >= 0);
  edges_of_[from].push_back(edges_.size());
  edges_.push_back({to, capacity});
  edges_of_[to].push_back(edges_.size());
  edges_.push_back({from, 0});
}

bool MaxFlow::MakeLevels(std::size_t source, std::size_t sink) {
  level_.assign(edges_of_.size(), 0);
  level_[source] = 1;
  std::vector<std::size_t> queue{source};
  for (std::size_t head = 0; head < queue.size(); ++head) {
    for (std::size_t e : edges_of_[queue[head]]) {
      const Edge& edge = edges_[e];
      if (edge.rest == 0 || level_[edge.to] != 0) continue;
      level_[edge.to] = level_[queue[head]] + 1;
      queue.push_back(edge.to);
    }
  }
  return level_[sink] != 0;
}

Wide MaxFlow::Augment(std::size_t source, std::size_t sink) {
  std::vector<std::size_t> path;  // edges from the source to `node`
  std::size_t node = source;
  while (node != sink) {
    const std::vector<std::size_t>& edges = edges_of_[node];
    std::size_t& next = next_[node];
    while (next < edges.size() &&
           (edges_[edges[next]].rest == 0 || level_[edges_[edges[next]].to] != level_[node] + 1)) {
      ++next;
    }
    if (next < edges.size()) {
      path.push_back(edges[next]);
      node = edges_[edges[next]].to;
    } else if (path.empty()) {
      return 0;
    } else {  // a dead end: go back, and never return here on this level graph
      node = edges_[path.back() ^ 1U].to;
      path.pop_back();
      ++next_[node];
    }
  }
  Wide pushed = edges_[path.front()].rest;
  for (std::size_t e : path) pushed = std::min(pushed, edges_[e].rest);
  for (std::size_t e : path) {
    edges_[e].rest -= pushed;
    edges_[e ^ 1U].rest += pushed;
  }
  return pushed;
}

Wide MaxFlow::Run(std::size_t source, std::size_t sink) {
  Wide flow = 0;
  while (MakeLevels(source, sink)) {
    next_.assign(edges_of_.size(), 0);
    for (Wide pushed = Augment(source, sink); pushed > 0; pushed = Augment(source, sink)) {
      flow += pushed;
    }
  }
  source_side_.assign(level_.size(), false);
  for (std::size_t n = 0; n < level_.size(); ++n) source_side_[n] = level_[n] != 0;
  return flow;
}

}  // namespace tessera::ptc
