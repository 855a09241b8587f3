// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Checks of the machine that a node runs on, each with a remedy.

#include <vector>

#include "agents/node/config.h"
#include "engine/cluster/snapshot.h"

namespace tessera::agents {

/// Takes milliseconds and changes nothing. The value of the check "clock" is the node's wall clock,
/// in seconds since 1970; only the requester can compare it with its own.
/// \threadsafety Any thread.
std::vector<engine::Check> RunDoctor(const AgentConfig& config);

}  // namespace tessera::agents
