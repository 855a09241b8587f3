// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What a node finds about the machine that it runs on, each with its remedy.

#include <vector>

#include "agents/node/config.h"
#include "engine/cluster/snapshot.h"

namespace tessera::agents {

/// Takes milliseconds, changes nothing. The check "clock" has as its value the node's wall clock in
/// seconds since 1970: only who asks can say whether it is right.
/// \threadsafety Any thread.
std::vector<engine::Check> RunDoctor(const AgentConfig& config);

}  // namespace tessera::agents
