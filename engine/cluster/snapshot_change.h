// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What has changed in the state of a cluster, so that those who watch it get no more than that.

#include <set>
#include <string>
#include <vector>

#include "engine/cluster/snapshot.h"

namespace tessera::engine {

/// From one state to the next. Nodes are never removed.
struct SnapshotChange {
  /// The fields of the new state, with the nodes and the jobs that differ, and of a transaction
  /// that goes on with the flows that differ.
  ClusterSnapshot rows;
  std::vector<std::string> jobs;       // the names of all jobs, in order
  std::set<std::string> same_devices;  // jobs in `rows` without their devices, which are as before
  bool same_transaction = false;       // it is not in `rows`
  bool transaction_goes_on = false;    // it is there without its devices, which are as before
  bool differs = false;                // more than the sequence; only Advance knows
  friend bool operator==(const SnapshotChange&, const SnapshotChange&) = default;
};

/// Makes `state` what `now` says, and returns how it has changed. `now` has all jobs, and at least
/// the nodes that may differ, in ascending order.
SnapshotChange Advance(ClusterSnapshot& state, ClusterSnapshot now);

/// Makes the same change to a copy of the state.
/// \error kFailedPrecondition if the change is not from this state; it is then half made
Status Apply(const SnapshotChange& change, ClusterSnapshot& state);

}  // namespace tessera::engine
