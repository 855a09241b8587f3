// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Which hosts send where the ports of racks limit as well: what crosses takes room at three ports
/// at once, the host's, its rack's and that of the rack it goes to.
///
/// No division is faster than the best one that only hosts limit, nor than the best one that only
/// racks limit; both are found exactly (balance.h). Their longer time is aimed at: loads start at
/// holders in the needer's rack as far as these have time, and what is too much at a port is passed
/// on along augmenting paths on which each step fills at most one further port. Where no such path
/// is left the time is raised by a thousandth. Fractions of three ports are a linear program and no
/// flow, so this is not exact, but the bound says how near it is (certificate/).

#include <cstdint>
#include <vector>

#include "ptc/plan/balance.h"

namespace tessera::ptc {

/// What one rack needs; any of the hosts may send it.
struct RackLoad {
  int rack = 0;
  Load load;  // ports are hosts
};
/// All speeds in the same unit.
struct RackPorts {
  std::vector<int> rack_of_host;
  std::vector<std::int64_t> host_speeds;
  std::int64_t rack_speed = 1;
  int num_racks = 0;
};

/// Pieces of each load, in the order of its units. No need to be done before `floor`; `sent` gains
/// what each host sends, `entering` has what enters each rack from elsewhere.
/// \pre as Divide; every load's rack and hosts are in `ports`
std::vector<std::vector<Share>> DivideInRacks(const std::vector<RackLoad>& loads,
                                              const RackPorts& ports, PortTime floor,
                                              const std::vector<std::int64_t>& entering,
                                              std::vector<std::int64_t>& sent);

}  // namespace tessera::ptc
