// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A running transfer as the agent sees it: what it has moved, and its result. Mover makes the
/// transfer.

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "agents/move/cell_digests.h"
#include "agents/move/flow_note.h"
#include "agents/move/state_digests.h"
#include "ptc/base/result.h"
#include "ptc/mesh.h"

namespace tessera::agents {

enum class MoveMode {
  kVerifyMoved,  // reads what moves, and compares it with its sources
  kVerifyFull,   // also reads all old cells before the first copy, and all new cells after the last
  kDigests,      // only reads the old cells
  kReplicas      // only reads the old cells of which the change drops a replica
};
inline bool OnlyReads(MoveMode mode) {
  return mode == MoveMode::kDigests || mode == MoveMode::kReplicas;
}

/// The digests of cells that a transfer has written and compared with their sources, by device.
using CellArrivals = std::map<std::tuple<ptc::DeviceId, int, ptc::Box>, std::uint64_t>;

struct MoveResult {
  Status status = OkStatus();
  std::int64_t checksums_equal = 0;  // moved cells whose digest equals that of the source
  std::shared_ptr<const CellArrivals> arrived = std::make_shared<const CellArrivals>();
  /// Of the sides that the transfer has read or received as a whole.
  StateDigests digests;
  /// The cells of these sides by device, in the order of DeviceCells::Of.
  std::vector<DeviceDigests> before;  // of the old layout
  std::vector<DeviceDigests> after;   // of the new layout
  std::vector<std::string> notes;     // for the cluster's events: sources that were replaced
};

/// The bytes that one device sends to a device of this node: planned, and copied so far.
struct MoveFlow {
  ptc::DeviceId source, destination;
  std::int64_t total = 0;
  std::atomic<std::int64_t> done = 0;
  FlowNote note = {};
};

class Move {
 public:
  Move() = default;
  Move(const Move&) = delete;
  Move& operator=(const Move&) = delete;
  /// Cancels the transfer. Afterwards nothing writes any more.
  virtual ~Move() = default;
  /// Makes the transfer end soon, with kCancelled. Any thread.
  virtual void Cancel() = 0;
  /// Fixed after construction; the counters grow. Any thread.
  virtual const std::vector<std::unique_ptr<MoveFlow>>& flows() const = 0;
  /// Bytes of a hand-in or a snapshot that have arrived. Any thread.
  virtual std::int64_t storage_done() const = 0;
};

}  // namespace tessera::agents
