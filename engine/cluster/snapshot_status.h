// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// How often copies of a job's state are taken into the memory of two nodes, and what became of
/// them.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ptc/base/result.h"

namespace tessera::engine {

/// At most one of the two is above 0; if none is, no snapshots are taken.
struct SnapshotEvery {
  std::int64_t steps = 0;
  std::int64_t seconds = 0;
  bool is_on() const { return steps > 0 || seconds > 0; }
  friend bool operator==(const SnapshotEvery&, const SnapshotEvery&) = default;
};
/// "off", "20" for steps, "30s" for seconds.
std::string ToString(SnapshotEvery every);
/// Also minutes and hours: "5m", "1h".
/// \error kInvalidArgument naming the text and the limits: 1 to 1000000 steps, 1 s to 24 h
Result<SnapshotEvery> ParseSnapshotEvery(std::string_view text);
/// \error kInvalidArgument as above
Status CheckSnapshotEvery(SnapshotEvery every);

/// Memory of hosts that the snapshots of a layout need.
struct SnapshotMemory {
  std::int64_t bytes = 0;       // of one snapshot, on all nodes; 0: unknown
  std::int64_t num_nodes = 0;   // that hold it
  std::int64_t peak_bytes = 0;  // of the node with the most: it keeps one while it takes the next
  std::int32_t peak_node = 0;
  friend bool operator==(const SnapshotMemory&, const SnapshotMemory&) = default;
};

struct SnapshotStatus {
  SnapshotEvery every;
  std::optional<std::int64_t> step;  // of the newest complete one
  std::int64_t bytes = 0;            // its memory on all nodes
  std::int64_t num_nodes = 0;        // that hold it
  std::int64_t taken = 0, given_up = 0;
  double seconds = 0;            // that the newest took
  std::string problem;           // why the last one was given up; empty: it is complete
  SnapshotMemory forecast = {};  // of the present layout
  friend bool operator==(const SnapshotStatus&, const SnapshotStatus&) = default;
};

}  // namespace tessera::engine
