// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Collectives of ranks on one host, over a shared-memory file and futexes. Sums are made in rank
/// order, so they have the same bits in every run. A message is copied once in and once out.

#include <cstddef>

#include "agents/train/comm/collective.h"

namespace tessera::agents::train {

/// Returns the size of the file of a group of `size` ranks that send each other messages of
/// `message_floats`. The file is sparse: pages that no message touches use no memory.
std::size_t ShmGroupBytes(int size, std::size_t message_floats = 0);

/// Joins the group whose zeroed file is `fd`, of ShmGroupBytes(options.size,
/// options.message_floats) bytes. Closes the descriptor in any case. Does not wait for other ranks;
/// the first collective does. The loss of a rank is not detected, so the caller must abandon the
/// group.
/// \error kInvalidArgument if the file is too small; kResourceExhausted if it cannot be mapped
Result<CollectivePtr> MakeShmGroup(const GroupOptions& options, int fd);

}  // namespace tessera::agents::train
