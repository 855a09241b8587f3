// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// How a share of a view or a snapshot is read.

#include "agents/registrar/membership.h"
#include "agents/wire/tessera/wire/node.pb.h"

namespace tessera::agents {

/// Fills in the machine, the lanes and the key of the node that holds the share.
inline void DescribeShare(const Membership::Node& node, wire::ViewShare* share) {
  share->set_machine(node.machine);
  *share->mutable_lanes() = node.peer.lanes();
  share->set_public_key(node.peer.public_key());
}

}  // namespace tessera::agents
