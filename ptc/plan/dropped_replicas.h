// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The replicas that a change drops. They have to equal those that it keeps or reads, so they are
/// compared before they are gone.

#include <cstdint>
#include <map>
#include <vector>

#include "ptc/plan/device_cells.h"

namespace tessera::ptc {

/// By device: the numbers of groups, ascending.
using DroppedGroups = std::map<DeviceId, std::vector<int>>;

/// The groups of cells that `device` holds together with others, and of which some holder does not
/// need every cell. Ascending. Every holder of such a group lists it.
/// \param held, needed of the same change, with CellOwners::kHolders and kNeeders
std::vector<int> DroppedReplicas(const DeviceCells& held, const DeviceCells& needed,
                                 DeviceId device);

/// The bytes that `device` holds of these groups. `from` is the old layout of both.
std::int64_t DroppedReplicaBytes(const Layout& from, const DeviceCells& held,
                                 const DeviceCells& needed, DeviceId device);
/// The most bytes that one device reads to compare the replicas that the change drops, among the
/// lowest devices of all groups. 0: it drops none. For estimates.
std::int64_t DroppedReplicaBytes(const Layout& from, const Layout& to,
                                 const std::vector<DeviceId>& lost = {});

}  // namespace tessera::ptc
