// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// How much memory the snapshots of a layout need, and on which nodes.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "agents/registrar/membership.h"
#include "engine/cluster/snapshot_status.h"
#include "ptc/layout.h"

namespace tessera::agents {

struct SnapshotForecast {
  engine::SnapshotMemory memory;
  std::map<std::int32_t, std::int64_t> bytes_of_node;  // of one snapshot
};

/// The node that keeps the second copies of a job on a single node: the next one of `alive`, as in
/// a ring. nullopt if there is none, or the job is on several nodes.
std::optional<std::int32_t> GuestOf(const std::set<std::int32_t>& nodes,
                                    const std::set<std::int32_t>& alive);

/// Divides `layout` as the nodes do, so it takes as long as a plan of a change. Any thread.
SnapshotForecast ForecastSnapshots(const ptc::Layout& layout, std::optional<std::int32_t> guest);

/// "each takes 26 MiB on 2 nodes, up to 26 MiB on n0 while the next is taken"
std::string ToText(const engine::SnapshotMemory& memory);

/// Names the nodes whose machine has less memory than `copies` snapshots need there; empty if there
/// are none. Nodes of one machine share its memory.
std::string LackOfMemory(const SnapshotForecast& forecast, const Membership& members, int copies);

}  // namespace tessera::agents
