// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Values that the registrar and all agents derive identically from the list of nodes: the topology
/// and each rank's view of a layout.

#include <cstdint>

#include "agents/wire/messages_fwd.h"
#include "ptc/layout.h"
#include "ptc/plan/plan.h"

namespace tessera::agents {

struct RankView;

using Peers = google::protobuf::RepeatedPtrField<wire::Peer>;

/// Nodes with equal host names share a host. Equal lists give equal topologies.
ptc::Topology TopologyOf(const Peers& peers);
/// The topology with which the registrar made the plan. A registrar that sends none used the
/// function above.
/// \error as ptc::ParseCluster
Result<ptc::Topology> TopologyOf(const wire::Prepare& prepare);
/// The entry of `node`, or nullptr.
const wire::Peer* FindPeer(const Peers& peers, std::int32_t node);
/// \pre 0 <= rank < layout.mesh().num_ranks()
RankView ViewOf(const ptc::Layout& layout, int rank, std::int64_t epoch, std::int64_t attempt,
                std::int64_t micro_batch, const Peers& peers);

}  // namespace tessera::agents
