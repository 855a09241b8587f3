// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Which hosts send where the ports of racks limit as well: what crosses takes room at three ports
/// at once, the host's, its rack's and that of the rack it goes to.
///
/// No division is faster than the best one that only hosts limit, nor than the best one that only
/// racks limit; both are found exactly (balance.h). Their longer time is aimed at: loads start at
/// holders in the needer's rack as far as these have time, and what is too much at a port is passed
/// on along augmenting paths on which each step fills at most one further port. Mostly that is all.
/// But fractions of three ports are a linear program and no flow: where no such path is left, the
/// program is solved (port_program.h), and its prices prove the time to the certificate. Where it
/// is too large the time is raised by a thousandth instead, and the paths go on.

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

struct RackDivision {
  std::vector<std::vector<Share>> pieces;  // of each load, in the order of its units
  /// What a byte costs at the ports of hosts, out of racks and into racks, in any unit: the proof
  /// of the time where hosts alone and racks alone would allow less. Else none.
  std::vector<std::int64_t> prices;
};

/// No need to be done before `floor`; `sent` gains what each host sends, `entering` has what enters
/// each rack from elsewhere.
/// \pre as Divide; every load's rack and hosts are in `ports`
RackDivision DivideInRacks(const std::vector<RackLoad>& loads, const RackPorts& ports,
                           PortTime floor, const std::vector<std::int64_t>& entering,
                           std::vector<std::int64_t>& sent);

}  // namespace tessera::ptc
