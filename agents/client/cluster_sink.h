// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Hands state to a live cluster: the nodes fetch it from lanes of this process, in a transaction
/// that the registrar coordinates. DESIGN.md, "State that is handed in".

#include <memory>

#include "agents/client/cluster.h"
#include "engine/vfs/state_sink.h"
#include "ptc/base/result.h"

namespace tessera::agents {

/// The nodes must reach this machine at the address from which it reaches the registrar. Take
/// returns once the register holds the outcome; where the registrar says nothing for minutes, it is
/// kUnavailable and names the transaction.
/// \error as ClusterClient::Open; kUnavailable where no lane can be bound
Result<std::shared_ptr<engine::vfs::StateSink>> OpenClusterSink(const Profile& profile);

}  // namespace tessera::agents
