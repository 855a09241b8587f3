// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Checkpoints of a job on disk, in a snapshot of the cluster.

#include <cstdint>
#include <optional>
#include <string>

#include "engine/cluster/snapshot_status.h"

namespace tessera::engine {

/// How often a cluster saves checkpoints of a job by itself.
struct CheckpointSchedule {
  SnapshotEvery every;
  std::string folder;     // absolute path, on all nodes
  std::int64_t keep = 0;  // newest ones that are kept; 0: all
  friend bool operator==(const CheckpointSchedule&, const CheckpointSchedule&) = default;
};

struct CheckpointStatus {
  CheckpointSchedule schedule;
  std::optional<std::int64_t> step;  // of the newest complete one
  std::string path = {};             // of the same
  std::int64_t count = 0;            // that the cluster knows
  bool is_saving = false;            // with the next two
  std::int64_t done = 0, total = 0;  // bytes; total 0: the state is being copied
  std::int64_t failed = 0;           // since the registrar's agent started
  std::string problem = {};          // why the last one failed; empty: it did not
  friend bool operator==(const CheckpointStatus&, const CheckpointStatus&) = default;
};

/// One checkpoint that a cluster has saved.
struct CheckpointEntry {
  std::string path;
  std::string job;
  std::int64_t step = 0;
  std::int64_t timeline = 0;
  std::int64_t bytes = 0;
  std::string model;
  std::string mesh;          // that the job had
  std::string digest;        // 16 hex digits
  double created = 0;        // seconds since 1970
  std::string problem = {};  // why it cannot be loaded; empty: complete
  bool scheduled = false;    // saved by itself, and removed when it is out of date
  bool is_over = false;      // of an earlier job with this name
  friend bool operator==(const CheckpointEntry&, const CheckpointEntry&) = default;
};

}  // namespace tessera::engine
