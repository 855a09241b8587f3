// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Transfers between simulated devices: a device gets the version that its sources have.

#include <functional>
#include <memory>
#include <vector>

#include "agents/move/move.h"
#include "agents/move/move_context.h"
#include "agents/sim/device_memory.h"

namespace tessera::agents::sim {

class SimMove : public Move {
 public:
  ~SimMove() override { is_cancelled_ = true; }
  /// To be asked when the transfer ends: Cancel was called, or the move is destroyed.
  std::shared_ptr<const bool> is_cancelled() const { return cancelled_; }

  void Cancel() override { is_cancelled_ = true; }
  const std::vector<std::unique_ptr<MoveFlow>>& flows() const override { return flows_; }
  std::int64_t storage_done() const override { return 0; }

 private:
  const std::shared_ptr<bool> cancelled_ = std::make_shared<bool>(false);
  bool& is_cancelled_ = *cancelled_;
  const std::vector<std::unique_ptr<MoveFlow>> flows_;
};

/// The memory of a device; nullptr if it cannot be read now.
using MemoryOf = std::function<DeviceMemory*(ptc::DeviceId device)>;

/// Copies, unless there is nothing to move, and takes the digests of both sides.
MoveResult CopyAndDigest(const MoveContext& context, const MemoryOf& memory_of);

}  // namespace tessera::agents::sim
