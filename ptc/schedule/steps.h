// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Assigns messages to steps such that every port has at most one message per step.

#include <cstddef>
#include <vector>

namespace tessera::ptc {

/// The numbers of the port that a message leaves and of the port that it enters.
struct PortPair {
  std::size_t out = 0;
  std::size_t in = 0;
};

/// The step of each message, from 0 on. No two messages of a step share a port, and there are only
/// as many steps as the busiest port has messages. This is an edge colouring of a bipartite
/// multigraph with as many colours as its largest degree (Koenig 1916), which for messages of equal
/// size is the decomposition of Birkhoff and von Neumann. Earlier messages get earlier steps if
/// possible.
std::vector<int> StepsOf(const std::vector<PortPair>& messages, std::size_t num_ports);

}  // namespace tessera::ptc
