// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Checks of the machine that a node runs on, each with a remedy.

#include <string>
#include <vector>

#include "agents/net/refused_keys.h"
#include "agents/net/socket.h"
#include "agents/node/config.h"
#include "engine/cluster/snapshot.h"

namespace tessera::agents {

/// Takes milliseconds and changes nothing. The value of the check "clock" is the node's wall clock,
/// in seconds since 1970; only the requester can compare it with its own.
/// \param refused keys that this agent has refused
/// \param unreadable keys of rows of its journal that were set aside
/// \threadsafety Any thread.
std::vector<engine::Check> RunDoctor(const AgentConfig& config,
                                     const std::vector<RefusedKey>& refused,
                                     const std::vector<std::string>& unreadable);

/// Says why this node has no connection to the registrar, and what to do: for its log, because
/// nobody else hears from it.
/// \pre kind is kRefused or kHandshakeFailed
std::string LinkFailureText(const AgentConfig& config, const std::string& public_key,
                            LinkEvent::Kind kind);

}  // namespace tessera::agents
