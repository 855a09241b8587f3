// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Collectives of ranks on several hosts over plain TCP, one connection a pair: what a job has that
/// brings no communication library of its own. Sums are made in rank order, so they are the same
/// bits in every run.

#include <memory>
#include <string>

#include "agents/train/comm/collective.h"
#include "agents/train/comm/rendezvous.h"

namespace tessera::agents::train {

/// Connects to the other ranks of the group; blocks until all have come. `address` is this rank's
/// network address, numeric. What the ranks send is neither encrypted nor authenticated beyond a
/// number that only the group's rendezvous knows. A rank that is gone is noticed at once.
/// \pre options.message_floats == 0: the group carries no messages
/// \error kInvalidArgument for an address that is none; kUnavailable, kTimeout, kCancelled as the
///     rendezvous
Result<CollectivePtr> MakeTcpGroup(const GroupOptions& options, const std::string& address,
                                   std::shared_ptr<Rendezvous> rendezvous);

}  // namespace tessera::agents::train
