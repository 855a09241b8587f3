// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// How a share of a view or a snapshot is read.

#include <string>

#include "agents/registrar/membership.h"
#include "agents/wire/tessera/wire/node.pb.h"

namespace tessera::agents {

/// Fills in the machine, the lanes, the key and the tickets of the node that holds the share of
/// view `view`.
inline void DescribeShare(const Membership::Node& node, const std::string& job, std::uint64_t view,
                          wire::ViewShare* share) {
  share->set_machine(node.machine);
  *share->mutable_lanes() = node.peer.lanes();
  share->set_public_key(node.peer.public_key());
  AddTickets(node, {job, static_cast<std::int64_t>(view), kViewAttempt}, share);
}

}  // namespace tessera::agents
