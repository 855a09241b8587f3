// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Which holder sends each piece, and what that puts on every port.
///
/// Topology first: a holder on the host of the needer wins over all others. Among the holders of
/// the chosen tier this is longest-processing-time-first list scheduling (Graham 1969) with the
/// least flexible demands first: fewest candidates, then most bytes, each to the port with the
/// fewest bytes so far.

#include <cstdint>
#include <utility>
#include <vector>

#include "ptc/cells.h"
#include "ptc/plan/plan.h"

namespace tessera::ptc {

/// One cell that one device lacks. Devices are positions in a device table.
struct Demand {
  const DeviceSet* holders = nullptr;  // not null, not empty
  std::size_t device = 0;
  std::int64_t size_bytes = 0;
};

/// Bytes through each port: a device's own port in each direction, and a host's network port.
class PortLoads {
 public:
  PortLoads(const std::vector<DeviceId>& devices, const Topology& topology);

  void Add(std::size_t source, std::size_t device, std::int64_t size_bytes);
  bool SameHost(std::size_t a, std::size_t b) const { return hosts_[a] == hosts_[b]; }
  /// What a network send of `source` would queue behind: its host's port, then its own.
  std::pair<std::int64_t, std::int64_t> NetworkQueue(std::size_t source) const;
  std::int64_t Sent(std::size_t source) const { return out_[source]; }

  /// Most bytes through any one port in one direction.
  std::int64_t Busiest() const;
  /// Seconds until the last port is done, at the topology's bandwidths.
  double Seconds(const Topology& topology) const;

 private:
  std::vector<std::size_t> hosts_;                      // by device: position of its host
  std::vector<std::int64_t> out_, in_;                  // by device
  std::vector<std::int64_t> host_out_, host_in_;        // by device, same-host traffic only
  std::vector<std::int64_t> network_out_, network_in_;  // by host
};

/// The source of each demand, in the order of `demands`; adds the traffic to `loads`.
std::vector<std::size_t> ChooseSources(const std::vector<Demand>& demands, PortLoads& loads);

}  // namespace tessera::ptc
