// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Chooses the sending hosts if the ports of racks have a limit, too. Bytes that cross between
/// racks use three ports at once: that of the host, that of its rack and that of the destination's
/// rack.
///
/// A division cannot be faster than the best one that only host ports limit, nor than the best one
/// that only rack ports limit. Both are computed exactly (balance.h), and the longer of the two
/// times is the target. Loads start at holders in the rack that needs them, as far as these have
/// time. Bytes that are too many at a port are then moved along augmenting paths on which each step
/// fills at most one more port. In most cases that reaches the target.
///
/// Bytes through three ports at once are a linear program and not a flow. So if no such path is
/// left, the linear program is solved (rack_program.h), and its prices prove the time to the
/// certificate. If the program is too large, the target is raised by a thousandth, and the search
/// for paths continues.

#include <cstdint>
#include <vector>

#include "ptc/plan/balance.h"

namespace tessera::ptc {

/// A load that one rack needs and that any of the listed hosts may send.
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
  std::vector<std::vector<Share>> pieces;  // the shares of each load, in the order of its units
  /// Prices per byte at the ports of hosts, out of racks and into racks, in any unit. They prove
  /// the time if hosts alone and racks alone would allow a shorter one; otherwise empty.
  std::vector<std::int64_t> prices;
};

/// Divides the loads among their hosts. `entering` holds the bytes that enter each rack from
/// elsewhere. The bytes that each host sends are added to `sent`. Times below `floor` are not worth
/// a search.
/// \pre as Divide; every load's rack and hosts are in `ports`
RackDivision DivideInRacks(const std::vector<RackLoad>& loads, const RackPorts& ports,
                           PortTime floor, const std::vector<std::int64_t>& entering,
                           std::vector<std::int64_t>& sent);

}  // namespace tessera::ptc
