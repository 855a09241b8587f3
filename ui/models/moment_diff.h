// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Two moments of a job beside each other: where it was, how it went, and what happened in between.

#include <QString>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/cluster/snapshot.h"
#include "ui/models/change_diff.h"

namespace tessera::ui {

struct MomentSide {
  double time = 0;  // wall clock, seconds since 1970
  engine::JobStatus job;
  std::optional<engine::TxnStatus> running;  // the change in progress
  std::int64_t change = 0;                   // the last one that began; 0: none
  /// Nodes; nothing for `alive` if the state of one is not known.
  std::int64_t nodes = 0;
  std::optional<std::int64_t> alive;
};

/// From the earlier moment A to the later moment B.
struct MomentDiff : PlaceDiff {
  MomentSide a, b;
  // Of the changes that began after A and until B.
  std::int64_t changes = 0, bytes = 0;
  double paused = 0;  // seconds
};

/// A moment of `job` in a cluster at that time; nothing if the cluster has no such job.
std::optional<MomentSide> momentSideOf(const engine::ClusterSnapshot& cluster,
                                       const std::string& job, double time, std::int64_t change);
/// Compares two moments of one job, in any order.
/// \param history the changes of the cluster, in any order
MomentDiff makeMomentDiff(const MomentSide& one, const MomentSide& other,
                          const std::vector<engine::HistoryEntry>& history);
std::vector<DiffRow> rowsOf(const MomentDiff& diff);
/// "3 changes in between moved 38.2 GiB and paused the job for 4.1 s."
QString betweenText(const MomentDiff& diff);

}  // namespace tessera::ui
