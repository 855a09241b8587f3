// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Named points at which a test can kill or stop this agent. agents/DESIGN.md lists them.

#include <cstdint>
#include <string_view>

namespace tessera::agents {

/// Kills this process with SIGKILL if the environment variable TESSERA_FAULT_FOLDER names a folder
/// that contains a file `n<node>.<point>`; stops it with SIGSTOP if that file begins with `stop`.
/// A number N after that word selects the N-th time that the point is reached. Only one thread may
/// reach such a point, and nobody may change the file meanwhile.
/// The file is removed first, so that each fault happens once although the restarted agent
/// inherits the variable. Does nothing if the variable is not set. Any thread.
void FaultPoint(std::int32_t node, std::string_view point);

}  // namespace tessera::agents
