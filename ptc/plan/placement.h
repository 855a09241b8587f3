// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Which device plays which rank of a new mesh.
///
/// As many bytes as can be shall already lie where they are needed. Up to kExactRanks ranks and
/// devices this is one assignment problem and exact. Above, it is solved in two levels, so that
/// ranks that talk most stay together: blocks of consecutive ranks (tp is the fastest axis) go to
/// hosts, then the ranks of a host to its devices, exactly. Blocks and hosts of equal content are
/// grouped and the transportation problem over the groups is solved exactly up to kExactGroups of
/// either; above, groups are formed by the classes that several hosts hold, and what single hosts
/// hold decides inside a group. There an auction of hosts tells how far that is from the best,
/// and is taken where it is better.

#include <cstdint>
#include <vector>

#include "ptc/layout.h"
#include "ptc/topology/topology.h"

namespace tessera::ptc {

inline constexpr std::size_t kExactRanks = 128;
inline constexpr std::size_t kExactGroups = 512;

struct Placement {
  DeviceMesh mesh;
  std::int64_t in_place_bytes = 0;  // needed by ranks and held by the devices that play them
  /// No placement of these blocks has more in place. Equal to in_place_bytes: proved best.
  std::int64_t bound_bytes = 0;
};

/// Only as many devices as the shape has ranks are taken. Ties: as many bytes as possible on the
/// host, then devices in ascending order. `collection` is the target's: the tensors of `from`,
/// maybe under other rules and of other floating dtypes. A user who wants another order gives
/// DeviceMesh::Make the devices in the order of ranks instead. What `lost` devices had counts for
/// nothing; they may still play ranks if they are among `devices`.
/// \error as Layout::Make for the target, and as MakeOutline; too few devices (names both numbers)
Result<Placement> FindPlacement(const Layout& from, const MeshShape& shape,
                                const CollectionPtr& collection,
                                const std::vector<DeviceId>& devices, const Topology& topology,
                                const StageRule& stages = {},
                                const std::vector<DeviceId>& lost = {});

/// The mesh of it.
Result<DeviceMesh> Place(const Layout& from, const MeshShape& shape,
                         const CollectionPtr& collection, const std::vector<DeviceId>& devices,
                         const Topology& topology, const StageRule& stages = {},
                         const std::vector<DeviceId>& lost = {});
/// The same where the rules stay.
Result<DeviceMesh> Place(const Layout& from, const MeshShape& shape,
                         const std::vector<DeviceId>& devices, const Topology& topology);

}  // namespace tessera::ptc
