// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Digests of the state after a transfer, taken while the job continues. Cells that stayed are read
/// from memory, and those that arrived have the digest of their arrival. The update of the next
/// step waits on each device until the cells of that device are read.

#include <cstdint>
#include <functional>
#include <memory>
#include <thread>

#include "agents/move/move.h"
#include "agents/move/move_context.h"
#include "agents/move/state_digests.h"

namespace tessera::agents {

/// The state after a transfer, in the pieces of the new layout.
struct KeptState {
  std::shared_ptr<const MoveContext> change;
  std::shared_ptr<const CellArrivals> arrived;
  std::int64_t step = 0;  // after which the state is
  /// The digests are taken before the commit, while the ranks compute the gradients of the next
  /// step: nothing is held, and they count if no update has begun at the end. Then replicas of the
  /// old layout are read too, also those that the change drops.
  bool is_ahead = false;
};

struct KeptResult {
  Status status = OkStatus();
  StateDigests digests;
  std::vector<DeviceDigests> devices;  // of the new layout, in the order of DeviceCells::Of
  /// Digests of the old layout, if is_ahead. 0 for cells without a replica.
  std::vector<DeviceDigests> before;
};

/// Sets the `hold` words of the node's devices in the new layout, so that no update after
/// `state.step` begins.
/// \pre no rank of these devices may begin an update yet; !state.is_ahead
void HoldUpdates(const KeptState& state);
/// Clears the holds that HoldUpdates has set and nobody has changed since. Nothing if is_ahead.
void ReleaseUpdates(const KeptState& state);

/// The result from digests of all cells. Shared with the simulator.
KeptResult DescribeKept(const ptc::DeviceCells& cells, std::vector<DeviceDigests> devices);

/// A running computation of these digests.
class KeptRun {
 public:
  KeptRun() = default;
  KeptRun(const KeptRun&) = delete;
  KeptRun& operator=(const KeptRun&) = delete;
  /// Cancels it.
  virtual ~KeptRun() = default;
};

/// Uses all cores at a low priority. Clears each hold when the cells of its device are read, and
/// all of them at the end.
class KeptDigests : public KeptRun {
 public:
  /// `done` runs once, on the thread of the run.
  /// \error kDataLoss if a device changed while it was read; kCancelled
  /// \pre HoldUpdates(state), or state.is_ahead
  KeptDigests(KeptState state, std::function<void(KeptResult)> done);
  ~KeptDigests() override;

 private:
  Result<KeptResult> Run(const std::stop_token& stop) const;

  const KeptState state_;
  std::jthread thread_;
};

}  // namespace tessera::agents
