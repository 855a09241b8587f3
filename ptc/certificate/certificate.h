// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// How good a plan can be, computed by code that shares nothing with the planner: only layouts and
/// the topology go in, and where racks limit, prices that may be wrong. A plan that reaches a bound
/// is proved best in that respect.
///
/// The bounds are over plans that fetch from near: what a device of the host already holds does not
/// come over the network. A byte that comes from the same host goes through the ports of two
/// devices, any other through the network ports of two hosts and, where racks limit and no holder
/// is in the rack, through the ports of two racks. What no live device holds comes from storage, a
/// snapshot or a checkpoint outside all hosts and racks: through the needer's ports only.

#include <cstdint>
#include <string>
#include <vector>

#include "ptc/layout.h"
#include "ptc/topology/port_prices.h"
#include "ptc/topology/topology.h"

namespace tessera::ptc {

/// A lower bound on the seconds until the last port is done, and which port it is.
struct PortBound {
  double seconds = 0;
  /// The bound as bytes through a port of the speed of the tightest one, rounded up.
  std::int64_t bytes = 0;
  std::string port = {};  // "n3 out", "n0g1 in", "rack 2 in"; empty where nothing moves
  /// So many ports have to share what makes them the tightest; `port` is the first of them.
  int num_ports = 0;
};

struct Certificate {
  /// V*: the sum over devices of what they need and do not hold, in bytes as it is held.
  std::int64_t volume = 0;
  /// Of these, what no live device holds.
  std::int64_t storage_volume = 0;
  /// What must cross into hosts at least: each byte once a host that needs it and holds none.
  std::int64_t network_volume = 0;
  /// Least time of any plan in which holders send straight to those who need. What comes in is
  /// fixed; what goes out is divided best, by max-flow over classes of bytes. Without rack ports it
  /// is exact: a plan that divides classes at byte level and whose rounds leave no port idle
  /// (Birkhoff and von Neumann) takes so long. With rack ports, through three of which a byte goes
  /// at once, it is a lower bound: the longest of what hosts, hosts and ports into racks, hosts and
  /// ports out of racks, and all of them at the prices given allow.
  PortBound direct;
  /// Lower bound for all plans, also those that pass bytes on: a byte comes once into each host (or
  /// device of a host that has it) that lacks it, the first time out of a port of a holder, after
  /// that out of any. Never above `direct`.
  PortBound relayed;
  /// Bytes on each device of either layout during the move when nothing is freed before the end:
  /// the union of old and new boxes, both where the dtype changes. By device, ascending.
  std::vector<std::int64_t> peak_memory;
  std::int64_t single_source_bytes = 0;  // needed elsewhere and held by one device only
};

/// \param lost devices of the old layout whose state cannot be read; others change nothing
/// \param prices those of a plan, or any: wrong ones make `direct` with rack ports lower, never
///     higher than what a plan can reach
/// \pre the layouts are of the same tensors
Certificate Certify(const Layout& from, const Layout& to, const Topology& topology,
                    const std::vector<DeviceId>& lost = {}, const PortPrices& prices = {});

}  // namespace tessera::ptc
