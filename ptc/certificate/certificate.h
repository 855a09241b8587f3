// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Bounds on the cost of any plan. They are computed from the layouts and the topology, by code
/// that shares nothing with the planner. If the ports of racks limit the transfer, prices from the
/// planner can raise a bound, which holds even if they are wrong. A plan that reaches a bound is
/// proved to be best in that respect.
///
/// The bounds hold for plans that fetch each byte from the nearest holder: bytes that a device of
/// the host holds do not come over the network. Bytes from the same host use the ports of two
/// devices. Other bytes use the network ports of two hosts and, if rack ports have a limit and no
/// holder is in the same rack, the ports of two racks. Bytes that no live device holds come from
/// storage (a snapshot or a checkpoint) outside all hosts and racks, and use only the ports of the
/// device that needs them.

#include <cstdint>
#include <string>
#include <vector>

#include "ptc/layout.h"
#include "ptc/topology/port_prices.h"
#include "ptc/topology/topology.h"

namespace tessera::ptc {

/// A lower bound on the time until the last port finishes, and that port.
struct PortBound {
  double seconds = 0;
  /// The bound as bytes through a port of the speed of the tightest one, rounded up.
  std::int64_t bytes = 0;
  std::string port = {};  // "n3 out", "n0g1 in", "rack 2 in"; empty if nothing moves
  /// The number of ports that share the load of this bound; `port` is the first of them.
  int num_ports = 0;
};

struct Certificate {
  /// V*: the sum over devices of the bytes that they need and do not hold, before conversions.
  std::int64_t volume = 0;
  /// The part of `volume` that no live device holds.
  std::int64_t storage_volume = 0;
  /// The least bytes that must enter hosts: each byte once per host that needs it and holds no
  /// copy.
  std::int64_t network_volume = 0;
  /// The least time of any plan in which holders send directly to the devices that need the bytes.
  /// The bytes that come in are fixed; those that go out are divided optimally, by max-flow over
  /// classes. Without rack ports the bound is exact: a plan that divides classes at bytes, and
  /// whose rounds leave no port idle (Birkhoff and von Neumann), takes this time. With rack ports,
  /// where a byte uses three ports at once, it is a lower bound: the longest of the times that
  /// hosts, hosts with ports into racks, hosts with ports out of racks, and all of them at the
  /// given prices require.
  PortBound direct;
  /// A lower bound for all plans, including those that relay bytes. A byte enters each host that
  /// lacks it (or each device of a host that has it) once: the first time from a port of a holder,
  /// then from any port. Never above `direct`.
  PortBound relayed;
  /// The bytes on each device of both layouts during the move if nothing is freed before the end:
  /// the union of old and new boxes, or both if the dtype changes. By device, ascending.
  std::vector<std::int64_t> peak_memory;
  std::int64_t single_source_bytes = 0;  // needed elsewhere and held by one device only
};

/// \param lost devices of the old layout whose state cannot be read; other devices are ignored
/// \param prices those of a plan, or any others. Wrong prices can make `direct` lower, but never
///     higher than the time of a plan
/// \pre the layouts have the same tensors
Certificate Certify(const Layout& from, const Layout& to, const Topology& topology,
                    const std::vector<DeviceId>& lost = {}, const PortPrices& prices = {});

}  // namespace tessera::ptc
