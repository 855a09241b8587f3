// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Hosts, racks and the links between devices, with their bandwidths.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ptc/base/result.h"
#include "ptc/mesh.h"

namespace tessera::ptc {

/// The hosts of devices, the racks of hosts, and the bandwidths of their ports. Ports are full
/// duplex: each bandwidth holds for each direction. A host has the number of one of its nodes. A
/// node that is not in `host_of_node` belongs to the host with its own number.
struct Topology {
  std::map<std::int32_t, std::int32_t> host_of_node = {};
  std::map<std::int32_t, std::int32_t> rack_of_host = {};  // hosts not listed are in rack 0
  /// The port of a device inside its host, and the port of a host to the network.
  double host_bytes_per_second = 6e9;
  double network_bytes_per_second = 1e9;
  /// The port of a rack to the other racks; empty: it never limits.
  std::optional<double> rack_bytes_per_second = {};
  /// Hosts whose network port has another speed.
  std::map<std::int32_t, double> network_of_host = {};
  /// The origin of the figures: "assumed", "measured 2026-11-20", or the name of a file.
  std::string source = "assumed";

  std::int32_t HostOf(DeviceId device) const;
  std::int32_t RackOf(std::int32_t host) const;
  double NetworkOf(std::int32_t host) const;
  friend bool operator==(const Topology&, const Topology&) = default;
};

/// A topology and its devices.
struct Cluster {
  Topology topology;
  std::vector<DeviceId> devices;
};
/// Parses the JSON of a cluster file (FORMAT.md), or the shorthand `NxM`: N nodes of M devices,
/// each node a host.
/// \error kInvalidArgument `FILE:LINE: …`, or naming the shorthand and the limit
Result<Cluster> ParseCluster(std::string_view name, std::string_view text);
std::string ToJson(const Cluster& cluster);

}  // namespace tessera::ptc
