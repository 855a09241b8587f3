// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What can be done for a job that has lost devices, as a function of values that a worker
/// computes.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agents/registrar/planner.h"
#include "engine/cluster/decision_status.h"
#include "ptc/mesh.h"

namespace tessera::agents {

/// The usable devices that a job could continue on.
struct Remaining {
  std::vector<ptc::DeviceId> own, spare;
  bool operator==(const Remaining&) const = default;
};

struct UsableCheckpoint {
  std::string path;
  std::int64_t step = 0;
  bool chosen = false;  // by a user
  bool operator==(const UsableCheckpoint&) const = default;
};

/// All that it depends on, at one moment.
struct LossFacts {
  PlanBasis basis;  // of the job, with its layout
  Remaining remaining;
  std::vector<ptc::DeviceId> lost;
  std::string reason;                              // "n1 was lost"
  std::int64_t step = 0;                           // last step of the job
  std::optional<std::int64_t> snapshot_step = {};  // of a snapshot of use, if there is one
  bool snapshot_failed = false;  // it could not be loaded, so a checkpoint is tried first
  std::optional<engine::RecoverySource> wanted = {};  // what a user has chosen
  /// The one that is `chosen`, or the newest that can be loaded, as far as is known.
  std::optional<UsableCheckpoint> checkpoint = {};
};

struct WayOut {
  engine::DecisionStatus status;  // without `chosen`, `seconds_left` and `awaited`
  bool by_itself = false;         // on its own devices, and no step is lost
  bool loads_checkpoint() const {
    return status.can_continue() && status.way().source == engine::RecoverySource::kCheckpoint;
  }
  std::optional<Planned> plan;  // of status.way(); present if status.can_continue()
};

/// Prefers what is wanted, then live copies to snapshot and checkpoint, the newer of these, the
/// same mesh to another, and own devices to spare ones. Another mesh keeps replicas if one fits.
/// Spare devices are on nodes that the job does not have if only then it survives the loss of a
/// node, at about the same speed. Any thread.
WayOut FindWayOut(const LossFacts& facts);

}  // namespace tessera::agents
