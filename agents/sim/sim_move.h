// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Transfers between simulated devices: a device gets the version that its sources have.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "agents/move/follow.h"
#include "agents/move/move.h"
#include "agents/move/move_context.h"
#include "agents/net/timers.h"
#include "agents/sim/device_memory.h"

namespace tessera::agents::sim {

class SimMove : public Move {
 public:
  /// One flow for each pair of devices, as Mover has them.
  explicit SimMove(const MoveContext& context);
  ~SimMove() override { Cancel(); }

  /// \param finish is called once: when `transfer` ends, or soon after Cancel or the destructor
  void Start(Timers& timers, std::function<void(bool is_cancelled)> finish);
  /// What the model runs; it ends with it.
  void Keep(std::shared_ptr<void> transfer) { run_->transfer = std::move(transfer); }
  /// Tells that the transfer has ended.
  std::function<void()> ended() const;

  void Cancel() override;
  const std::vector<std::unique_ptr<MoveFlow>>& flows() const override { return flows_; }
  std::int64_t storage_done() const override { return run_->stored; }

 private:
  struct Run {
    Timers* timers = nullptr;
    std::shared_ptr<void> transfer;
    std::function<void(bool is_cancelled)> finish;  // empty once it has been called
    std::int64_t stored = 0;                        // bytes of a snapshot that have arrived
  };
  static void End(const std::shared_ptr<Run>& run, bool is_cancelled);

  const std::int64_t stored_bytes_;
  std::vector<std::unique_ptr<MoveFlow>> flows_;
  const std::shared_ptr<Run> run_ = std::make_shared<Run>();
};

/// The memory of a device; nullptr if it cannot be read now.
using MemoryOf = std::function<DeviceMemory*(ptc::DeviceId device)>;

/// The bytes of a snapshot that a transfer reads into the devices of its node.
std::int64_t StoredBytes(const MoveContext& context);

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

/// As SaveGradients and UpdateCopies (agents/move/follow.h).
Status Save(const MoveContext& context, const MemoryOf& memory_of);
Status Update(const MoveContext& context, const StepUpdate& update, const MemoryOf& memory_of);

/// Copies, and takes the digests that a transfer of this mode takes.
/// \param damages one device gets rubbish
MoveResult CopyAndDigest(const MoveContext& context, MoveMode mode, const MemoryOf& memory_of,
                         const ShareOf& share_of, bool damages);

}  // namespace tessera::agents::sim
