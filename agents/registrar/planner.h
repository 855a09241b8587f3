// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Plans of changes with their costs. Functions of values, so that a worker can compute them.

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agents/node/remains.h"
#include "agents/wire/messages_fwd.h"
#include "engine/cluster/snapshot.h"
#include "engine/search/propose.h"
#include "engine/store/allocate.h"
#include "ptc/plan/outline.h"

namespace tessera::agents {

/// All that a plan depends on: a job and the cluster at one moment.
struct PlanBasis {
  engine::SearchInput job;  // with its layout, and without devices
  std::int64_t epoch = 0;
  std::string cluster;  // JSON of the topology
  bool has_snapshots = false;
  std::set<std::int32_t> alive = {};    // nodes, of which one may keep the copies of another
  std::optional<Remains> remains = {};  // as of Job
};

struct Planned {
  ptc::Layout to;
  ptc::PlanFigures plan;
  engine::PlanSummary summary;
  std::string cluster = {};                // JSON of the topology that the plan was made with
  std::vector<engine::Round> rounds = {};  // in which the state moves after the decision
  std::optional<Remains> from = {};        // present: the state does not lie as in the old layout
  /// The tensors of each step over whose gradients the state is copied; empty: of one step, or
  /// none.
  std::vector<std::vector<int>> legs = {};
};

/// Plans the change of the job to `devices`, as the request wants it.
/// \param lost devices of the present layout whose state is of no use
/// \error kFailedPrecondition if the job runs so already; kResourceExhausted naming a device
///     without room; those of the search, the layout and the plan. Any thread.
Result<Planned> PlanChange(const PlanBasis& basis, const wire::PlanRequest& request,
                           std::vector<ptc::DeviceId> devices,
                           const std::vector<ptc::DeviceId>& lost);

/// Plans to replace the whole state of the job by a given one, which has the same layout.
/// \error kResourceExhausted naming a device without room. Any thread.
Result<Planned> PlanHandIn(const PlanBasis& basis);

}  // namespace tessera::agents
