// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The state of a cluster's jobs at step boundaries, as views (agents/client/DESIGN.md, "State of
/// jobs"). The file tree, checkpoints and comparisons read it.

#include <chrono>
#include <cstdint>
#include <memory>

#include "agents/client/cluster.h"
#include "engine/vfs/state_source.h"
#include "ptc/base/result.h"

namespace tessera::agents {

struct ClusterStateOptions {
  /// Limit for all views that this process holds, summed over nodes.
  std::int64_t view_memory_bytes = std::int64_t{1} << 30;
  /// Map the memory of nodes on this machine instead of reading it over their lanes.
  bool map_memory = true;
  /// How often the views are renewed. Must be below their lease at the nodes, 30 s by default.
  std::chrono::milliseconds renewal{5000};
};

/// Views outlive the source; the last of them closes the connection. Read fails with kDataLoss if
/// the node is alive and no longer holds the view, and with kUnavailable if the node is silent.
/// Both errors name node and tensor. Pin waits for a few minutes at most.
/// \error as ClusterClient::Open
Result<std::unique_ptr<engine::vfs::StateSource>> OpenClusterState(
    const Profile& profile, const ClusterStateOptions& options = {});

}  // namespace tessera::agents
