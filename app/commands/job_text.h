// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Jobs of a cluster as text, for `status`, `job list` and `job describe`.

#include <optional>
#include <string>

#include "engine/cluster/snapshot.h"

namespace tessera::app {

/// How long ago the job was started, in seconds, by the clock of the registrar; nullopt if it is
/// not known.
std::optional<double> ageOf(const engine::ClusterSnapshot& snapshot, const engine::JobStatus& job);
/// Seconds until the job has made `step`, or its last step; nullopt if it does not train, its pace
/// is not known, or the step is made.
std::optional<double> secondsTo(const engine::JobStatus& job, std::int64_t step);
std::optional<double> secondsLeft(const engine::JobStatus& job);
/// "lena@lab3": the user without the key and the program; empty if unknown.
std::string ownerOf(const engine::JobStatus& job);
/// "step 12 of 2000, about 12 min left".
std::string progressOf(const engine::JobStatus& job);

std::string describeSnapshots(const engine::SnapshotStatus& snapshots);
/// Empty for a job without checkpoints and schedule.
std::string describeCheckpoints(const engine::CheckpointStatus& checkpoints);

/// All jobs as a table, and notes on each below it. A wide table has more columns: GPUs, epoch,
/// layout, and what the job would lose with a node.
std::string jobTable(const engine::ClusterSnapshot& snapshot, bool isWide);

}  // namespace tessera::app
