// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Collectives of ranks on one host: a shared-memory file and futexes. Sums are made in rank order,
/// so they are the same bits in every run. Messages take one copy in and one out.

#include <cstddef>

#include "agents/train/comm/collective.h"

namespace tessera::agents::train {

/// Size of the file for a group of `size` ranks that send messages of `message_floats` to each
/// other. Sparse: pages that no message touches take no memory.
std::size_t ShmGroupBytes(int size, std::size_t message_floats = 0);

/// Joins the group whose zeroed file is `fd`, of ShmGroupBytes(options.size,
/// options.message_floats) bytes. Takes the descriptor in any case. Waits for nobody: the first
/// collective does. A rank that is killed is not noticed: whoever notices abandons the group.
/// \error kResourceExhausted if the file cannot be mapped
Result<CollectivePtr> MakeShmGroup(const GroupOptions& options, int fd);

}  // namespace tessera::agents::train
