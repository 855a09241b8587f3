// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What the lanes of a node serve: cells of the transfer that is under way, of views and snapshots,
/// and of measurements of links.

#include <cstdint>
#include <memory>
#include <mutex>

#include "agents/move/link_probe.h"
#include "agents/move/move_context.h"
#include "agents/net/lanes.h"
#include "agents/node/stored_views.h"

namespace tessera::agents {

/// \threadsafety Any thread.
class ServedCells {
 public:
  /// `views` must outlive it.
  explicit ServedCells(const StoredViews& views) : views_(views) {}

  /// The transfer whose cells are served from now on; null: none.
  void Serve(std::shared_ptr<const MoveContext> context);
  /// As LaneServer::Resolve.
  /// \error kFailedPrecondition if another transfer is under way, or none
  Result<SourceCell> Resolve(const LaneKey& key, const LaneCell& cell);

 private:
  const StoredViews& views_;
  LinkSource links_;
  std::mutex mutex_;
  std::shared_ptr<const MoveContext> context_;  // under mutex_
};

}  // namespace tessera::agents
