// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Changes as clusters see them, for measuring plans against their bounds: hosts come and go, axes
/// are mixed anew, ZeRO is switched. Tensors are large enough to be divided.

#include <random>
#include <string>
#include <vector>

#include "ptc/layout.h"
#include "ptc/topology/topology.h"

namespace tessera::test {

struct Change {
  ptc::Layout from;
  ptc::Layout to;
  ptc::Topology topology;
  std::vector<ptc::DeviceId> lost;  // of the old hosts, all devices of some: cannot be read
  std::string text;                 // "tp=8,dp=2 on 2x8 -> tp=4,dp=4 on 2x8"
};
/// A decoder of a few layers with Adam's states on up to `max_hosts` hosts of 8 devices; the new
/// mesh is placed as the planner would. In one of four some of the old hosts fail, maybe all. In
/// one of three the ports of racks limit.
/// \pre max_hosts > 1
Change AnyChange(std::mt19937_64& rng, int max_hosts);

}  // namespace tessera::test
