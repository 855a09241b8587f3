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

/// Which devices share a host, which hosts a rack, and how fast what is between them is. Ports are
/// full duplex: each bandwidth holds for each direction. A host is named by one of its nodes; nodes
/// left out are hosts of their own, or the host that bears their name.
struct Topology {
  std::map<std::int32_t, std::int32_t> host_of_node = {};
  std::map<std::int32_t, std::int32_t> rack_of_host = {};  // left out: all in rack 0
  /// Bytes a second: a device's port inside its host, a host's port to the network.
  double host_bytes_per_second = 6e9;
  double network_bytes_per_second = 1e9;
  /// A rack's port to the other racks; empty: it never limits.
  std::optional<double> rack_bytes_per_second = {};
  /// Exceptions: hosts whose network port is of another speed.
  std::map<std::int32_t, double> network_of_host = {};
  /// Where the figures come from: "assumed", "measured 2026-11-20", the name of a file.
  std::string source = "assumed";

  std::int32_t HostOf(DeviceId device) const;
  std::int32_t RackOf(std::int32_t host) const;
  double NetworkOf(std::int32_t host) const;
  friend bool operator==(const Topology&, const Topology&) = default;
};

/// A topology with the devices that it names.
struct Cluster {
  Topology topology;
  std::vector<DeviceId> devices;
};
/// The JSON of a topology file (FORMAT.md), or the shorthand `NxM`: N nodes of M devices, each node
/// a host. \error kInvalidArgument `FILE:LINE: …`, or naming the shorthand and the limit
Result<Cluster> ParseCluster(std::string_view name, std::string_view text);
std::string ToJson(const Cluster& cluster);

}  // namespace tessera::ptc
