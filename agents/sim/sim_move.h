// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Transfers between simulated devices: a device gets the version that its sources have.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
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

/// The version of a node's share of a snapshot; nullopt if it has none.
using ShareOf = std::function<std::optional<std::int64_t>(std::int32_t node, std::uint64_t id)>;

/// The digest of `elements` elements of a tensor: of a whole tensor it is the sum of those of its
/// parts. Rubbish has another one on each device.
std::uint64_t DigestOf(std::int64_t version, int tensor, std::int64_t elements,
                       ptc::DeviceId device);

/// The version of the state of a device.
using VersionOf = std::function<std::int64_t(ptc::DeviceId device)>;

/// The digests of the node's devices that own cells.
std::vector<DeviceDigests> DigestsOf(const MoveContext& context, const ptc::DeviceCells& cells,
                                     const VersionOf& version_of);

/// Copies, and takes the digests that a transfer of this mode takes.
/// \param damages one device gets rubbish
MoveResult CopyAndDigest(const MoveContext& context, MoveMode mode, const MemoryOf& memory_of,
                         const ShareOf& share_of, bool damages);

}  // namespace tessera::agents::sim
