// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Carries out one node's part of a plan while the job stands still: digests what is held, copies
/// what stays or comes from the same host, receives the rest over lanes, and digests the result.
/// Old pieces are only read.

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "agents/net/lanes.h"
#include "agents/node/cell_digests.h"
#include "engine/store/arena.h"
#include "engine/store/piece_table.h"
#include "engine/transfer/token_bucket.h"
#include "ptc/plan/plan.h"

namespace tessera::agents {

/// Everything that a transfer reads; immutable and shared with the lanes that serve it.
struct MoveContext {
  LaneKey key;
  ptc::Layout from;
  ptc::Layout to;
  ptc::Plan plan;  // without moves: digests only
  ptc::Topology topology;
  std::int32_t node = 0;
  struct Local {
    const engine::Arena* arena = nullptr;
    engine::PieceTable old_table;
    engine::PieceTable next_table;
  };
  std::map<ptc::DeviceId, Local> local;
  struct Remote {
    std::vector<std::string> lanes;
    std::string public_key;                // of its lanes
    std::vector<std::string> arena_paths;  // by device index
  };
  std::map<std::int32_t, Remote> nodes;
};

struct MoveResult {
  Status status = OkStatus();
  std::vector<DeviceDigests> before;  // devices of the old layout
  std::vector<DeviceDigests> after;   // devices of the new layout
  std::int64_t checksums_equal = 0;   // moved cells whose digest equals its source's
};

/// Bytes that one device sends another of this node, and how many have arrived.
struct MoveFlow {
  ptc::DeviceId source, destination;
  std::int64_t total = 0;
  std::atomic<std::int64_t> done = 0;
};

/// The memory of a cell that this node sends. Any thread.
/// \error kNotFound naming the move if this node does not hold it.
Result<SourceCell> ResolveSource(const std::shared_ptr<const MoveContext>& context,
                                 std::int64_t move);

class Mover {
 public:
  struct Wire {
    NetContext* net = nullptr;
    CurveKeys keys;
    std::shared_ptr<engine::TokenBucket> ingress;
  };
  /// Starts at once on a thread of its own; `done` runs on that thread, exactly once.
  Mover(std::shared_ptr<const MoveContext> context, Wire wire,
        std::function<void(MoveResult)> done);
  /// Stops what runs and waits for it; `done` has then run.
  ~Mover();
  /// Makes the transfer end soon with kCancelled. Any thread.
  void Cancel();
  /// Fixed after construction; the counters grow. Any thread.
  const std::vector<std::unique_ptr<MoveFlow>>& flows() const { return flows_; }

 private:
  MoveResult Run(const std::stop_token& stop);
  Status Copy(const std::stop_token& stop);
  Status Receive(const std::stop_token& stop);
  MoveFlow* FlowOf(ptc::DeviceId source, ptc::DeviceId destination);

  std::shared_ptr<const MoveContext> context_;
  Wire wire_;
  std::vector<std::unique_ptr<MoveFlow>> flows_;
  std::map<std::int64_t, std::uint64_t> source_digests_;  // by move
  std::jthread thread_;
};

}  // namespace tessera::agents
