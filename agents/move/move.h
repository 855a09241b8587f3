// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A running transfer as the agent sees it: what it has moved, and its result. Mover makes the
/// transfer.

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "agents/move/cell_digests.h"
#include "ptc/base/result.h"
#include "ptc/mesh.h"

namespace tessera::agents {

struct MoveResult {
  Status status = OkStatus();
  std::vector<DeviceDigests> before;  // devices of the old layout
  std::vector<DeviceDigests> after;   // devices of the new layout
  std::int64_t checksums_equal = 0;   // moved cells whose digest equals that of the source
  std::vector<std::string> notes;     // for the cluster's events: sources that were replaced
};

/// The bytes that one device sends to a device of this node: planned, and copied so far.
struct MoveFlow {
  ptc::DeviceId source, destination;
  std::int64_t total = 0;
  std::atomic<std::int64_t> done = 0;
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
