// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Chooses the device for each rank of a new mesh.
///
/// The goal is that as many bytes as possible are already on the devices that need them. Up to
/// kExactRanks ranks and devices this is one assignment problem, solved exactly. Above, it is
/// solved in two levels, which keeps the ranks that communicate most together: blocks of
/// consecutive ranks (tp is the fastest axis) are placed on hosts, then the ranks of each host on
/// its devices, exactly.
///
/// Blocks and hosts of equal content form groups. Up to kExactGroups groups the transportation
/// problem over the groups is exact. Above, groups are formed by the classes that several hosts
/// hold, and the classes of single hosts decide within a pair of groups.

#include <cstdint>
#include <vector>

#include "ptc/layout.h"
#include "ptc/topology/topology.h"

namespace tessera::ptc {

inline constexpr std::size_t kExactRanks = 128;
inline constexpr std::size_t kExactGroups = 512;

struct Placement {
  DeviceMesh mesh;
  std::int64_t in_place_bytes = 0;  // bytes that ranks need and that their devices hold
  /// No placement of these blocks has more bytes in place. If it equals in_place_bytes, the
  /// placement is proved to be best.
  std::int64_t bound_bytes = 0;
};

/// Places the ranks of `shape` on the same number of `devices`. Among placements with equal bytes
/// in place, those with more bytes on the host are preferred, then those with devices in ascending
/// order. `collection` is that of the target: the tensors of `from`, possibly with other rules and
/// other floating-point dtypes. State on `lost` devices does not count; they may still get ranks if
/// they are among `devices`. For a given order of devices use DeviceMesh::Make instead.
/// \error as Layout::Make for the target, as MakeOutline, and if there are too few devices
Result<Placement> FindPlacement(const Layout& from, const MeshShape& shape,
                                const CollectionPtr& collection,
                                const std::vector<DeviceId>& devices, const Topology& topology,
                                const StageRule& stages = {},
                                const std::vector<DeviceId>& lost = {});

/// Returns the placement of FindPlacement, then those that keep replicas apart where it does not:
/// one that keeps them in different racks, and one that keeps them on different nodes, each with
/// the most bytes in place among the divisions of DivideReplicas. The first one that costs no more
/// than the caller accepts is the one to use; their bound_bytes are those of the first.
/// \error as FindPlacement
Result<std::vector<Placement>> FindPlacements(const Layout& from, const MeshShape& shape,
                                              const CollectionPtr& collection,
                                              const std::vector<DeviceId>& devices,
                                              const Topology& topology,
                                              const StageRule& stages = {},
                                              const std::vector<DeviceId>& lost = {});

/// Returns the same for a job without state: first the ranks in order on the first devices.
/// \param devices ascending
/// \error as DeviceMesh::Make
Result<std::vector<DeviceMesh>> NewPlacements(const MeshShape& shape,
                                              const std::vector<DeviceId>& devices,
                                              const Topology& topology);

/// The mesh of FindPlacement.
Result<DeviceMesh> Place(const Layout& from, const MeshShape& shape,
                         const CollectionPtr& collection, const std::vector<DeviceId>& devices,
                         const Topology& topology, const StageRule& stages = {},
                         const std::vector<DeviceId>& lost = {});
/// The mesh of FindPlacement, with unchanged rules.
Result<DeviceMesh> Place(const Layout& from, const MeshShape& shape,
                         const std::vector<DeviceId>& devices, const Topology& topology);

}  // namespace tessera::ptc
