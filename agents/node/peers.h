// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What registrar and agents derive alike from the list of a cluster's nodes: which share a host,
/// and a layout as one rank sees it.

#include "agents/job/rank_port.h"
#include "agents/wire/messages_fwd.h"
#include "ptc/layout.h"
#include "ptc/plan/plan.h"

namespace tessera::agents {

using Peers = google::protobuf::RepeatedPtrField<wire::Peer>;

/// Nodes with equal host names share a host. Equal lists give equal topologies.
ptc::Topology TopologyOf(const Peers& peers);
/// What a plan was made with: the registrar's figures, or, from one that sends none, the above.
/// \error as ptc::ParseCluster
Result<ptc::Topology> TopologyOf(const wire::Prepare& prepare);
/// The entry of `node`, or nullptr.
const wire::Peer* FindPeer(const Peers& peers, std::int32_t node);
/// \pre 0 <= rank < layout.mesh().num_ranks()
RankView ViewOf(const ptc::Layout& layout, int rank, std::int64_t epoch, std::int64_t attempt,
                std::int64_t micro_batch, const Peers& peers);

}  // namespace tessera::agents
