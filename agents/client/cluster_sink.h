// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The client's side of a hand-in: the nodes fetch the state from lanes of this process, in a
/// transaction that the registrar coordinates (agents/DESIGN.md, "Hand-ins").

#include <memory>

#include "agents/client/cluster.h"
#include "engine/vfs/state_sink.h"
#include "ptc/base/result.h"

namespace tessera::agents {

/// The nodes must reach this machine at the address from which it reaches the registrar.
/// StateSink::Take returns once the register holds the outcome. If the registrar is silent for
/// minutes, Take fails with kUnavailable and names the transaction.
/// \error as ClusterClient::Open; kUnavailable if no lane can be bound
Result<std::shared_ptr<engine::vfs::StateSink>> OpenClusterSink(const Profile& profile);

}  // namespace tessera::agents
