// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Messages in steps in which every port has at most one.

#include <cstddef>
#include <vector>

namespace tessera::ptc {

/// A message between the port it leaves and the port it enters, by number.
struct PortPair {
  std::size_t out = 0;
  std::size_t in = 0;
};

/// The step of each message, from 0 on. No two messages of a step share a port, and there are only
/// as many steps as messages at the busiest port: an edge colouring of a bipartite multigraph with
/// as few colours as its largest degree (Koenig 1916), which is the decomposition of Birkhoff and
/// von Neumann for messages of equal size. Messages that come first get early steps where they can.
std::vector<int> StepsOf(const std::vector<PortPair>& messages, std::size_t num_ports);

}  // namespace tessera::ptc
