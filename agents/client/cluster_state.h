// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The state of a live cluster's jobs at step boundaries, as the file tree, checkpoints and others
/// of this process read it. DESIGN.md, "Views".

#include <chrono>
#include <cstdint>
#include <memory>

#include "agents/client/cluster.h"
#include "engine/vfs/state_source.h"
#include "ptc/base/result.h"

namespace tessera::agents {

struct ClusterStateOptions {
  /// Of all views that this process holds, summed over nodes.
  std::int64_t view_memory_bytes = std::int64_t{1} << 30;
  /// Map the memory of nodes on this machine instead of reading it over their lanes.
  bool map_memory = true;
  /// How often nodes are told that the views are still in use; below their lease of 30 s.
  std::chrono::milliseconds renewal{5000};
};

/// Views outlive the source; the last of both closes the connection. What a view's node has lost is
/// said by Read: kDataLoss where the node is there and does not hold the view any more,
/// kUnavailable where it says nothing; both name node and tensor. Pin waits for at most a few
/// minutes. \error as ClusterClient::Open
Result<std::unique_ptr<engine::vfs::StateSource>> OpenClusterState(
    const Profile& profile, const ClusterStateOptions& options = {});

}  // namespace tessera::agents
