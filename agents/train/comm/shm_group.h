// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Collectives of ranks on one host: a shared-memory file and one futex. Sums are made in rank
/// order, so they are the same bits in every run.

#include <cstddef>

#include "agents/train/comm/collective.h"

namespace tessera::agents::train {

/// Size of the file for a group of `size` ranks.
std::size_t ShmGroupBytes(int size);

/// Joins the group whose zeroed file is `fd`, of ShmGroupBytes(options.size) bytes. Takes the
/// descriptor in any case. Waits for nobody: the first collective does.
/// \error kResourceExhausted if the file cannot be mapped
Result<CollectivePtr> MakeShmGroup(const GroupOptions& options, int fd);

}  // namespace tessera::agents::train
