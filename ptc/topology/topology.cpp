// SPDX-License-Identifier: Apache-2.0
#include "ptc/topology/topology.h"

namespace tessera::ptc {

std::int32_t Topology::HostOf(DeviceId device) const {
  const auto it = host_of_node.find(device.node);
  return it == host_of_node.end() ? device.node : it->second;
}

std::int32_t Topology::RackOf(std::int32_t host) const {
  const auto it = rack_of_host.find(host);
  return it == rack_of_host.end() ? 0 : it->second;
}

double Topology::NetworkOf(std::int32_t host) const {
  const auto it = network_of_host.find(host);
  return it == network_of_host.end() ? network_bytes_per_second : it->second;
}

}  // namespace tessera::ptc
