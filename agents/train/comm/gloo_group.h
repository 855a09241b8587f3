// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Collectives of ranks on several hosts: c10d's Gloo process group, connected over a rendezvous.

#include <memory>
#include <string>

#include "agents/train/comm/collective.h"
#include "agents/train/comm/rendezvous.h"

namespace tessera::agents::train {

/// Connects to the other ranks of the group; blocks until all have come. `address` is this rank's
/// network address. Destroying the group may block while an abandoned collective runs out: do it on
/// a thread that nobody waits for.
/// \error kUnavailable, kTimeout, kCancelled as the rendezvous; kUnimplemented in a build without
///     Gloo's headers
Result<CollectivePtr> MakeGlooGroup(const GroupOptions& options, const std::string& address,
                                    std::shared_ptr<Rendezvous> rendezvous);

}  // namespace tessera::agents::train
