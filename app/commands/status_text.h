// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// A whole cluster as text.

#include <cstddef>
#include <string>

#include "engine/cluster/snapshot.h"

namespace tessera::app {

/// Above this many GPUs `status` counts them instead of listing each.
inline constexpr std::size_t kMostListedGpus = 64;

enum class StatusParts {
  kUsual,    // each GPU, or a summary above kMostListedGpus
  kAll,      // each GPU
  kSummary,  // nodes and GPUs in numbers, and those that need attention
  kJobs      // without nodes and GPUs
};

std::string describeStatus(const engine::ClusterSnapshot& snapshot,
                           StatusParts parts = StatusParts::kUsual);

/// Whether the second state says more than that time has passed.
bool differs(engine::ClusterSnapshot before, engine::ClusterSnapshot now);

/// `text` for a terminal of this size, drawn over what it shows from the top left corner. Lines for
/// which there is no room are counted in the last one.
std::string screenOf(const std::string& text, std::size_t numRows, std::size_t numColumns);

}  // namespace tessera::app
