// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What the doctor says of the GPUs of a node's machine.

#include <vector>

#include "agents/node/config.h"
#include "engine/cluster/snapshot.h"

namespace tessera::agents {

/// Driver, devices and NCCL. What a node with emulated devices lacks is skipped, with the reason.
std::vector<engine::Check> CheckGpus(const AgentConfig& config);

}  // namespace tessera::agents
