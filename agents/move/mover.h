// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Carries out one node's part of a plan while the job is paused, on all cores: computes the
/// digests of the old pieces, copies cells within the host, receives the others over lanes, all
/// compared with their sources, forwards relayed cells between its own devices, and computes
/// the digests of the new pieces. For a hand-in it fetches all state from the client instead, for a
/// job that returns to a snapshot from the nodes that hold it. Old pieces are only read.

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "agents/move/cell_digests.h"
#include "agents/move/move.h"
#include "agents/move/move_context.h"
#include "engine/transfer/token_bucket.h"

namespace tessera::agents {

class Mover : public Move {
 public:
  struct Wire {
    NetContext* net = nullptr;
    CurveKeys keys;
    std::shared_ptr<engine::TokenBucket> ingress;
  };
  /// Starts at once on its own thread. `done` runs exactly once, on that thread.
  Mover(std::shared_ptr<const MoveContext> context, Wire wire,
        std::function<void(MoveResult)> done);
  /// Cancels the transfer and waits for `done`.
  ~Mover() override;
  void Cancel() override;
  const std::vector<std::unique_ptr<MoveFlow>>& flows() const override { return flows_; }
  std::int64_t storage_done() const override { return storage_done_; }

 private:
  enum class Side { kOld, kNew };

  MoveResult Run(const std::stop_token& stop);
  Status Transfer(const std::stop_token& stop, MoveResult& result);
  /// Beside each other, one device a thread. If it fails, `out` has no meaning.
  Status DigestAll(const std::stop_token& stop, Side side, std::vector<DeviceDigests>& out);
  /// The digest of a cell of the next layout: that of before if its memory stays, that of its
  /// arrival if it was moved, else from memory.
  Result<std::uint64_t> NextDigest(ptc::DeviceId device, const JobCell& cell) const;
  /// The digest before the move, if this node took it.
  std::optional<std::uint64_t> OldDigest(ptc::DeviceId device, int tensor,
                                         const ptc::Box& cell) const;
  Status Copy(const std::stop_token& stop);
  Status Receive(const std::stop_token& stop);
  /// Fetches cells over lanes and waits for the end. `callbacks` is without `done`.
  Status FetchCells(const std::stop_token& stop, const LaneKey& key,
                    std::vector<FetchBatch> batches, FetchCallbacks callbacks);
  Status Refill(const std::stop_token& stop, MoveResult& result);
  Status ReadSnapshot(const std::stop_token& stop);
  Status Forward(const std::stop_token& stop);
  /// Copies a cell from `origin`. Any thread of the transfer.
  /// \error kDataLoss, as Accept
  Status CopyChecked(const ptc::RemoteCopy& move, const DevicePieces& origin,
                     std::uint64_t expected);
  /// Copies a cell from the old to the next pieces of a device. Any thread of the transfer.
  Status Repack(const ptc::LocalCopy& move);
  /// Counts a cell that arrived as its source has it. Any thread of the transfer.
  /// \error kDataLoss naming tensor, cell, both devices and digests, if they differ
  Status Accept(const ptc::RemoteCopy& move, std::uint64_t digest, std::uint64_t expected);
  MoveFlow* FlowOf(ptc::DeviceId source, ptc::DeviceId destination);

  std::shared_ptr<const MoveContext> context_;
  std::vector<JobCell> cells_;
  Wire wire_;
  std::vector<std::unique_ptr<MoveFlow>> flows_;
  std::atomic<std::int64_t> storage_done_ = 0;
  using DeviceCell = std::tuple<ptc::DeviceId, int, ptc::Box>;
  std::map<DeviceCell, std::uint64_t> old_digests_;  // complete before the first copy
  std::map<DeviceCell, std::uint64_t> arrived_;      // of cells that equal their sources
  std::int64_t num_accepted_ = 0;
  std::vector<std::string> notes_;
  std::mutex mutex_;  // guards the four members above while threads work
  std::jthread thread_;
};

}  // namespace tessera::agents
