// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Collectives and messages of ranks on several hosts over plain TCP. Sums are made in rank order,
/// so they have the same bits in every run.

#include <memory>
#include <string>

#include "agents/train/comm/collective.h"
#include "agents/train/comm/rendezvous.h"

namespace tessera::agents::train {

/// Connects to the other ranks of the group. Blocks until all ranks have connected. `address` is
/// the numeric network address of this rank. What the ranks send is not encrypted; a random number
/// that only the group's rendezvous knows is all that authenticates a rank. The loss of a rank is
/// detected at once, because its connections end.
/// \error kInvalidArgument for text that is not an address; kUnavailable, kTimeout, kCancelled as
///     the rendezvous
Result<CollectivePtr> MakeTcpGroup(const GroupOptions& options, const std::string& address,
                                   std::shared_ptr<Rendezvous> rendezvous);

}  // namespace tessera::agents::train
