// SPDX-License-Identifier: Apache-2.0
#include "ptc/plan/device_table.h"

#include <algorithm>

#include "ptc/cells.h"

namespace tessera::ptc {
namespace {

/// The different names, ascending, and the position of each member's name.
struct Numbered {
  std::vector<std::int32_t> names;
  std::vector<int> position;
};
Numbered Number(const std::vector<std::int32_t>& of) {
  Numbered numbered{of, {}};
  std::vector<std::int32_t>& names = numbered.names;
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  for (std::int32_t name : of) {
    const auto at = std::lower_bound(names.begin(), names.end(), name);
    numbered.position.push_back(static_cast<int>(at - names.begin()));
  }
  return numbered;
}

}  // namespace

std::optional<int> DeviceTable::Find(DeviceId device) const {
  const auto at = std::lower_bound(devices.begin(), devices.end(), device);
  if (at == devices.end() || *at != device) return std::nullopt;
  return static_cast<int>(at - devices.begin());
}

DeviceTable MakeDeviceTable(const Layout& from, const Layout& to, const Topology& topology,
                            const std::vector<DeviceId>& lost) {
  DeviceTable table;
  table.devices = DevicesOf(from, to);
  const auto ranks_on = [&](const DeviceMesh& mesh) {
    std::vector<std::optional<int>> ranks(table.devices.size());
    for (int rank = 0; rank < mesh.num_ranks(); ++rank) {
      const DeviceId device = mesh.devices()[static_cast<std::size_t>(rank)];
      ranks[static_cast<std::size_t>(*table.Find(device))] = rank;
    }
    return ranks;
  };
  table.from = ranks_on(from.mesh());
  table.to = ranks_on(to.mesh());
  for (DeviceId device : lost) {
    if (const auto at = table.Find(device)) table.from[static_cast<std::size_t>(*at)].reset();
  }
  std::vector<std::int32_t> names;
  for (DeviceId device : table.devices) names.push_back(topology.HostOf(device));
  Numbered hosts = Number(names);
  names.clear();
  for (std::int32_t host : hosts.names) names.push_back(topology.RackOf(host));
  Numbered racks = Number(names);
  table.host = std::move(hosts.position);
  table.hosts = std::move(hosts.names);
  table.rack = std::move(racks.position);
  table.racks = std::move(racks.names);
  return table;
}

}  // namespace tessera::ptc
