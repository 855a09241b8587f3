// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Realistic changes of clusters, for comparing plans with their bounds: hosts join and leave,
/// meshes change, ZeRO is switched on and off. Tensors are large enough to be divided.

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
  std::vector<ptc::DeviceId> lost;  // all devices of some old hosts; their state cannot be read
  std::string text;                 // "tp=8,dp=2 on 2x8 -> tp=4,dp=4 on 2x8"
};
/// A change of a decoder of a few layers with Adam's moments, on up to `max_hosts` hosts of 8
/// devices. The planner places the new mesh. In one of four changes some or all old hosts fail; in
/// one of three the ports of racks limit.
/// \pre max_hosts > 1
Change AnyChange(std::mt19937_64& rng, int max_hosts);

}  // namespace tessera::test
