// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Maximum flow, with integer capacities that are wide enough for bytes times speeds.

#include <cstddef>
#include <vector>

namespace tessera::ptc {

__extension__ using Wide = __int128;

/// Dinic's algorithm (Soviet Math. Doklady 11, 1970): shortest augmenting paths, one level graph at
/// a time. Deterministic, because edges are tried in the order in which they were added.
class MaxFlow {
 public:
  explicit MaxFlow(std::size_t num_nodes) : edges_of_(num_nodes) {}

  /// \pre capacity >= 0, the nodes exist
  void AddEdge(std::size_t from, std::size_t to, Wide capacity);
  /// The value of a maximum flow.
  /// \pre source != sink; called once
  Wide Run(std::size_t source, std::size_t sink);
  /// The nodes on the source's side of the smallest minimum cut.
  /// \pre Run was called
  const std::vector<bool>& SourceSide() const { return source_side_; }

 private:
  struct Edge {
    std::size_t to;
    Wide rest;  // capacity left; the edge at index ^ 1 is its reverse
  };
  bool MakeLevels(std::size_t source, std::size_t sink);
  /// Pushes flow along one path of the level graph. Returns 0 if no path is left.
  Wide Augment(std::size_t source, std::size_t sink);

  std::vector<Edge> edges_;
  std::vector<std::vector<std::size_t>> edges_of_;  // by node, indices into edges_
  std::vector<std::size_t> level_;                  // 1 at the source; 0: not reached
  std::vector<std::size_t> next_;                   // by node, the edge to try next
  std::vector<bool> source_side_;
};

}  // namespace tessera::ptc
