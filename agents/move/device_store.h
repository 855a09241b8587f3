// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The arenas of one node's devices: the job on each device, its current piece table, and the flip
/// to the next table. Only the agent's loop thread uses it; transfers and ranks also read and write
/// the memory itself.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agents/keeper/keeper_link.h"
#include "engine/store/arena.h"
#include "engine/store/piece_table.h"
#include "ptc/mesh.h"

namespace tessera::agents {

class DeviceStore {
 public:
  struct Device {
    ptc::DeviceId id;
    std::unique_ptr<engine::Arena> arena;
    std::string path;                         // /proc/PID/fd/N, for other agents of this host
    std::optional<engine::PieceTable> table;  // current; nullopt: the device is idle
    bool failed = false;
  };

  /// Attaches the memory of a device whose arena has none in it.
  using AttachMemory = std::function<Status(const KeeperLink::Arena& kept, engine::Arena& arena)>;

  /// Maps every arena and reads its current table.
  /// \error as Arena::Map, `attach` and PieceTable::Read
  static Result<DeviceStore> Open(std::int32_t node, const std::vector<KeeperLink::Arena>& arenas,
                                  const AttachMemory& attach = {});

  std::map<ptc::DeviceId, Device>& devices() { return devices_; }
  const std::map<ptc::DeviceId, Device>& devices() const { return devices_; }
  /// nullptr if this node has no such device.
  Device* Find(ptc::DeviceId id);
  const Device* Find(ptc::DeviceId id) const;
  /// Devices that hold pieces of `job`.
  std::vector<ptc::DeviceId> Of(const std::string& job) const;

  /// Makes `table`, which is already in its slot, current. It describes the state after `step`. A
  /// table without entries makes the device idle. `keeps_update`: gradients and decision of the
  /// step after it stay valid, for the rank to apply them.
  void Flip(Device& device, const engine::PieceTable& table, std::int64_t timeline,
            std::int64_t step, bool keeps_update = false);
  /// The same between two rounds of a move: the ranks stay paused, and a table without entries
  /// keeps the device in the job.
  void FlipRound(Device& device, const engine::PieceTable& table, std::int64_t timeline,
                 std::int64_t step);
  /// Makes the device idle and drops its pieces.
  void Free(Device& device);

 private:
  std::map<ptc::DeviceId, Device> devices_;
};

}  // namespace tessera::agents
