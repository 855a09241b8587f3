// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The end of a node's log, for users on other machines.

#include <cstdint>
#include <string>
#include <vector>

#include "agents/node/config.h"

namespace tessera::agents {

/// The last `lines` lines, oldest first, at most the last megabyte of the newest file.
/// \error kFailedPrecondition if the agent writes no log file (its output then goes to the output
///     of the process that started it); kNotFound naming the file
/// \pre lines >= 0
Result<std::vector<std::string>> LogTail(const AgentConfig& config, std::int64_t lines);

}  // namespace tessera::agents
