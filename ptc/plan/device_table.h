// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The devices of two layouts, numbered, with their ranks, hosts and racks.

#include <cstdint>
#include <optional>
#include <vector>

#include "ptc/layout.h"
#include "ptc/topology/topology.h"

namespace tessera::ptc {

struct DeviceTable {
  std::vector<DeviceId> devices;         // ascending
  std::vector<std::optional<int>> from;  // rank in the old layout; none for a lost device
  std::vector<std::optional<int>> to;    // rank in the new layout
  std::vector<int> host;                 // by device: position in `hosts`
  std::vector<std::int32_t> hosts;       // names, ascending
  std::vector<int> rack;                 // by host: position in `racks`
  std::vector<std::int32_t> racks;       // names, ascending

  /// The position of a device, or nullopt.
  std::optional<int> Find(DeviceId device) const;
};
/// The state on the devices of `lost` is gone, so they count as if they were not in the old layout.
DeviceTable MakeDeviceTable(const Layout& from, const Layout& to, const Topology& topology,
                            const std::vector<DeviceId>& lost);

}  // namespace tessera::ptc
