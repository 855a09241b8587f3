// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Carries out one node's part of a plan while the job is paused, on all cores: copies cells within
/// the host while it receives the others over lanes, compares all with their sources, and then
/// forwards relayed cells between its own devices. For a hand-in it fetches all state from the
/// client or from the files of a checkpoint instead, for a job that returns to a snapshot from the
/// nodes that hold it. Old pieces are only read, and those that stay in place are not read at all,
/// except with MoveMode::kVerifyFull.

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "agents/move/cell_digests.h"
#include "agents/move/move.h"
#include "agents/move/move_context.h"
#include "engine/transfer/token_bucket.h"

namespace tessera::agents {

class Disposal;
class HostPeers;

class Mover : public Move {
 public:
  struct Wire {
    NetContext* net = nullptr;
    CurveKeys keys;
    std::shared_ptr<engine::TokenBucket> ingress;
    std::shared_ptr<LaneCounts> counts = {};
    /// Takes reads of a checkpoint that a cancelled transfer leaves behind. They may use the
    /// context until it has released them, but no arena. Needed for such transfers only.
    Disposal* left = nullptr;
  };
  /// Moments at which a test may change memory.
  enum class Moment {
    kSourceDigested,  // a block of a copy or forward; its copies follow. Several threads
    kReceived,        // all copies and cells of lanes are written and compared; forwards follow
    kTransferred      // all new cells are written and compared
  };
  /// Starts at once on its own thread. `done` runs exactly once, on that thread.
  Mover(std::shared_ptr<const MoveContext> context, Wire wire, std::function<void(MoveResult)> done,
        MoveMode mode = MoveMode::kVerifyMoved, std::function<void(Moment)> moment = {});
  /// Cancels the transfer and waits for `done`.
  ~Mover() override;
  void Cancel() override;
  const std::vector<std::unique_ptr<MoveFlow>>& flows() const override { return flows_; }
  std::int64_t storage_done() const override { return storage_done_; }

 private:
  enum class Side { kOld, kNew };

  MoveResult Run(const std::stop_token& stop);
  Status Transfer(const std::stop_token& stop, MoveResult& result);
  /// Digests of the cells of the node's devices on one side, from memory: of all, or of
  /// the groups in `only` and 0 of the others. If it fails, `out` has no meaning.
  Status DigestAll(const std::stop_token& stop, Side side, const ptc::DeviceCells& cells,
                   std::vector<DeviceDigests>& out, const ptc::DroppedGroups* only = nullptr);
  /// The digests of all new cells, after the transfer. Those of a hand-in have just arrived.
  Status DigestNew(const std::stop_token& stop, MoveResult& result);
  /// Compares each new cell with the same cell before, and with its source.
  /// \error kDataLoss naming tensor, cell, device and digests
  Status CompareOwn(const ptc::DeviceCells& cells, const MoveResult& result) const;
  /// The digest before the move, if this node took it.
  std::optional<std::uint64_t> OldDigest(ptc::DeviceId device, int tensor,
                                         const ptc::Box& cell) const;
  /// At the same time, because they write different cells. The failure of one ends the other.
  Status CopyAndReceive(const std::stop_token& stop);
  Status Copy(const std::stop_token& stop);
  Status Receive(const std::stop_token& stop);
  /// The same from device to device, by MoveContext::exchange.
  Status Exchange(const std::stop_token& stop);
  /// Fetches cells over lanes and waits for the end. `callbacks` is without `done`.
  Status FetchCells(const std::stop_token& stop, const LaneKey& key,
                    std::vector<FetchBatch> batches, FetchCallbacks callbacks);
  Status Refill(const std::stop_token& stop, MoveResult& result);
  Status ReadSnapshot(const std::stop_token& stop);
  Status ReadCheckpoint(const std::stop_token& stop);
  Status Forward(const std::stop_token& stop);
  /// The copies of one cell of one device to devices of this node.
  struct CellCopies {
    struct Destination {
      ptc::DeviceId device;
      ptc::Box piece;  // a next piece, which contains the cell
    };
    DevicePieces origin;
    int tensor = 0;
    ptc::Box cell;
    ptc::Box from;  // a piece of the origin, which contains the cell
    std::vector<Destination> to;
    std::optional<std::uint64_t> digest = {};  // of the cell, if it was computed before
  };
  Result<std::vector<CellCopies>> FindHostCopies(HostPeers& peers) const;
  /// Copies cells range by range, on all cores, and compares each copy with its source.
  /// \error kDataLoss as Differs; kCancelled
  Status CopyCells(const std::stop_token& stop, const std::vector<CellCopies>& all);
  /// Any thread of the transfer.
  Status CopyRange(const CellCopies& copies, const ptc::Box& range);
  /// kDataLoss naming tensor, range, both devices and digests.
  Error Differs(const CellCopies& copies, const ptc::Box& range, ptc::DeviceId device,
                std::uint64_t digest, std::uint64_t expected) const;
  /// Notes a range of a cell that arrived as its source has it. Any thread of the transfer.
  void NoteArrival(ptc::DeviceId device, int tensor, const ptc::Box& cell, std::uint64_t digest);
  MoveFlow* FlowOf(ptc::DeviceId source, ptc::DeviceId destination);
  void Reach(Moment moment) const;

  std::shared_ptr<const MoveContext> context_;
  const MoveMode mode_;
  const std::function<void(Moment)> moment_;
  Wire wire_;
  std::vector<std::unique_ptr<MoveFlow>> flows_;
  std::atomic<std::int64_t> storage_done_ = 0;
  CellArrivals old_digests_;  // complete before the first copy; empty unless all is verified
  CellArrivals arrived_;      // of cells that equal their sources; the sum of ranges
  std::vector<std::string> notes_;
  std::mutex mutex_;  // guards arrived_ and notes_ while threads work
  std::jthread thread_;
};

}  // namespace tessera::agents
