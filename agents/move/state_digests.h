// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The digests that nodes report of a job's state: sums by tensor, and one hash for each device and
/// group of cells. Sums of all nodes give the digest of the collection; hashes find replicas that
/// differ. Their size does not grow with the cells of the model.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "agents/move/cell_digests.h"
#include "ptc/plan/device_cells.h"
#include "ptc/plan/dropped_replicas.h"
#include "ptc/tensor_spec.h"

namespace tessera::agents {

/// Of all cells of the group on the device: xxh3-64 of their digests in order.
struct GroupHash {
  ptc::DeviceId device;
  int group = 0;
  std::uint64_t hash = 0;
  friend bool operator==(const GroupHash&, const GroupHash&) = default;
};

/// The digests of one side of a change.
struct SideDigests {
  /// By tensor: the sum over the cells that a device of the node represents. Sums of 0 are absent.
  std::map<int, std::uint64_t> sums;
  /// Of the groups with several owners.
  std::vector<GroupHash> groups;
};

/// What a node knows of the state before and after a change. A side may be absent; then its
/// members are empty and `has_…` is false.
struct StateDigests {
  bool has_before = false;
  bool has_after = false;
  SideDigests before;
  SideDigests after;
};

/// \pre each of `devices` has the digests of DeviceCells::Of(device), in that order
SideDigests Summarize(const ptc::DeviceCells& cells, const std::vector<DeviceDigests>& devices);

/// The hashes of the groups of which the change drops replicas, and nothing else: other nodes may
/// have read more.
/// \pre as Summarize; cells of other groups may have any digest; `dropped` has each of `devices`
SideDigests SummarizeDropped(const ptc::DeviceCells& held, const ptc::DroppedGroups& dropped,
                             const std::vector<DeviceDigests>& devices);

/// Adds the sums of all nodes.
JobDigest AddUp(const ptc::Collection& collection, const std::vector<const SideDigests*>& nodes);

/// A group whose owners hold different state.
struct GroupDifference {
  int group = 0;
  std::vector<ptc::DeviceId> devices;  // all that reported it, ascending
};
/// Ascending by group.
std::vector<GroupDifference> FindDifferences(const std::vector<const SideDigests*>& nodes);

/// The cells of `group` on a device, of all its digests.
std::vector<std::uint64_t> OfGroup(const ptc::DeviceCells& cells, const DeviceDigests& device,
                                   int group);

/// Names the first cell of the group in which two of the devices differ:
/// `tensor 'x' [0:4]: n0g0 holds digest …, n0g2 holds …`. Empty if none differs.
/// \param devices each with the digests of its cells of the group
std::string DescribeDifference(const ptc::Collection& collection, const ptc::DeviceCells& cells,
                               int group, const std::vector<DeviceDigests>& devices);

}  // namespace tessera::agents
