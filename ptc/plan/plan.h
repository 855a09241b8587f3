// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The plan: the moves from one layout to another, with their costs. A pure function of its inputs:
/// every agent computes the same plan, and only its hash is exchanged.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "ptc/layout.h"
#include "ptc/plan/outline.h"
#include "ptc/plan/placement.h"
#include "ptc/topology/topology.h"

namespace tessera::ptc {

/// A target piece that is one contiguous range of an old piece on the same device. It is not
/// copied.
struct Keep {
  DeviceId device;
  int tensor = 0;
  Box piece;  // the target piece
  Box from;   // the old piece it lies in
  friend bool operator==(const Keep&, const Keep&) = default;
};
/// A cell that stays on its device but is copied into a new piece.
struct LocalCopy {
  DeviceId device;
  int tensor = 0;
  Box cell;
  Box piece;  // target piece
  Box from;   // old piece on the same device
  friend bool operator==(const LocalCopy&, const LocalCopy&) = default;
};
/// A cell that another device sends.
struct RemoteCopy {
  DeviceId source;
  DeviceId device;  // destination
  int tensor = 0;
  Box cell;
  Box piece;               // target piece at the destination
  Box from;                // old piece at the source; if forwarded, its target piece
  bool forwarded = false;  // whether the source received the cell earlier in this plan
  friend bool operator==(const RemoteCopy&, const RemoteCopy&) = default;
};
/// Whether the cell goes over the network. Forwarded ones do not: a device forwards inside its
/// node.
inline bool CrossesHosts(const RemoteCopy& copy, const Topology& topology) {
  return topology.HostOf(copy.source) != topology.HostOf(copy.device);
}
/// An old piece of which nothing is kept in place.
struct Drop {
  DeviceId device;
  int tensor = 0;
  Box piece;
  friend bool operator==(const Drop&, const Drop&) = default;
};
using Move = std::variant<Keep, LocalCopy, RemoteCopy, Drop>;

/// A cell that no live device holds. The device reads it from a snapshot or checkpoint.
struct StorageRead {
  DeviceId device;
  int tensor = 0;
  Box cell;
  Box piece;  // target piece at the device
  friend bool operator==(const StorageRead&, const StorageRead&) = default;
};

/// What some devices do in a plan.
struct DeviceMoves {
  std::vector<Move> moves;         // ordered by (tensor, box, device)
  std::vector<StorageRead> reads;  // in the same order; none unless devices are lost
};

/// An outline with the moves of all devices. Its size grows with tensors times devices, so live
/// changes do not use it: each agent expands the moves of its own devices.
struct Plan {
  std::uint64_t from_hash = 0;
  std::uint64_t to_hash = 0;
  std::vector<Move> moves;         // ordered by (tensor, box, device)
  std::vector<StorageRead> reads;  // in the same order; none unless devices are lost
  PlanBytes bytes;
  std::int64_t busiest_port_bytes = 0;           // through the port that finishes last
  std::string busiest_port = {};                 // its name, as in BusiestPort
  PortPrices port_prices;                        // as in the outline
  std::map<DeviceId, std::int64_t> peak_memory;  // old + new - kept, during the move
  std::int64_t single_source_pieces = 0;         // moved cells that only one device holds
  double transfer_seconds = 0;                   // estimate from the topology's bandwidths
  std::uint64_t hash = 0;                        // of the outline
};

/// \error as MakeOutline
Result<Plan> MakePlan(const Layout& from, const Layout& to, const Topology& topology,
                      const PlanOptions& options = {});

/// The moves and reads that write to `devices`, and their drops, in the order of a plan. They are
/// exactly those that the plan of the whole cluster has for these devices. A device in neither
/// layout has none. Old pieces of a lost device are not dropped.
/// \pre `outline` is MakeOutline(from, to, …); `devices` are ascending
DeviceMoves MovesOf(const Outline& outline, const Layout& from, const Layout& to,
                    std::span<const DeviceId> devices);

}  // namespace tessera::ptc
