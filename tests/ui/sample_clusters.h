// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Clusters to draw and to test with.

#include <set>
#include <string>
#include <vector>

#include "engine/cluster/snapshot.h"

namespace tessera::test {

inline const std::string kJob = "gpt-mini";

/// `nodes` times `devices`, alive and idle, 512 MiB each.
engine::ClusterSnapshot IdleCluster(int nodes, int devices);
/// The job on the first devices of `cluster`, node by node, with `shape`.
void AddJob(engine::ClusterSnapshot* cluster, const ptc::MeshShape& shape);
ptc::MeshShape Shape(std::int64_t dp, std::int64_t tp, std::int64_t pp);

/// 2 nodes of 4; the job as 2 × 2 × 1 on n0.
engine::ClusterSnapshot SmallCluster();
std::set<ptc::DeviceId> AllDevices(const engine::ClusterSnapshot& cluster);
std::set<ptc::DeviceId> JobDevices(const engine::ClusterSnapshot& cluster);
/// SmallCluster going to 4 × 2 × 1 on all devices: n0gI would send to n1gI.
engine::PlanSummary GrowthPlan();
/// SmallCluster in the middle of that plan; `done` of each flow in percent.
engine::ClusterSnapshot MovingCluster(const std::vector<int>& done = {62, 58, 64, 41},
                                      engine::TxnPhase phase = engine::TxnPhase::kTransferring);
/// A large cluster with a job on all but the last `idle` nodes and flows between `bundles` pairs of
/// nodes, every device of a pair to its counterpart. A power of two of nodes and devices.
engine::ClusterSnapshot LargeCluster(int nodes, int devices, int idle, int bundles);

}  // namespace tessera::test
