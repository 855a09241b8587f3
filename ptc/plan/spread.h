// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Keeps the replicas of a mesh apart, so that a job survives the loss of a node or a rack.
///
/// Ranks that differ only in their coordinate along dp are replicas of each other. A domain is a
/// node or a rack.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "ptc/mesh.h"

namespace tessera::ptc {

/// Returns whether no domain holds all replicas of any rank. False without replicas.
/// \param domain_of by rank
/// \pre one domain per rank
bool KeepsReplicasApart(const MeshShape& shape, std::span<const std::int32_t> domain_of);

/// Whole replicas, and the devices that they may use.
struct Half {
  std::vector<int> ranks;    // in the order of ReplicaByReplica
  std::vector<int> devices;  // positions, ascending; at least as many as ranks
};
using Halves = std::array<Half, 2>;

/// Returns ways to divide replicas and domains into two halves. No domain is in both halves, so any
/// placement within the halves keeps replicas apart. Domains are divided in ascending order, and
/// the most even divisions come first, at most four. Empty if dp is 1 or no division has enough
/// devices.
/// \param domain_of by device
/// \param wanted by rank: the device that suits it best; replicas go to the half with most of these
///     devices. Empty: no device suits better than another
std::vector<Halves> DivideReplicas(const MeshShape& shape, std::span<const std::int32_t> domain_of,
                                   std::span<const int> wanted);

/// Returns all ranks with dp as the slowest axis: the ranks of the first replica, then those of the
/// second. On consecutive devices this keeps replicas apart wherever a replica fills a domain.
std::vector<int> ReplicaByReplica(const MeshShape& shape);

}  // namespace tessera::ptc
