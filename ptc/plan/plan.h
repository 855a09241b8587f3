// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The plan: the moves that turn one layout into another, with their costs. A pure function of its
/// inputs: every agent computes the same plan and only its hash is exchanged.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ptc/layout.h"

namespace tessera::ptc {

/// A target piece that is one contiguous range of an old piece of the same device: not copied.
struct Keep {
  DeviceId device;
  int tensor = 0;
  Box piece;  // the target piece
  Box from;   // the old piece it lies in
  friend bool operator==(const Keep&, const Keep&) = default;
};
/// A cell that stays on its device but goes into a new piece.
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
  Box piece;  // target piece at the destination
  Box from;   // old piece at the source
  friend bool operator==(const RemoteCopy&, const RemoteCopy&) = default;
};
/// An old piece of which nothing is kept in place.
struct Drop {
  DeviceId device;
  int tensor = 0;
  Box piece;
  friend bool operator==(const Drop&, const Drop&) = default;
};
using Move = std::variant<Keep, LocalCopy, RemoteCopy, Drop>;

/// Which devices share a host. A host is named by one of its nodes; nodes left out are hosts of
/// their own, or the host that bears their name.
struct Topology {
  std::map<std::int32_t, std::int32_t> host_of_node;
  std::int32_t HostOf(DeviceId device) const;
  /// Bandwidths assumed by estimates, bytes a second.
  double host_bytes_per_second = 6e9;
  double network_bytes_per_second = 1e9;
  friend bool operator==(const Topology&, const Topology&) = default;
};

struct PlanBytes {
  std::int64_t kept = 0;      // stay in place
  std::int64_t device = 0;    // repacked on the same device
  std::int64_t host = 0;      // from another device of the same host
  std::int64_t network = 0;   // from another host
  std::int64_t snapshot = 0;  // sources that later kinds of plans use
  std::int64_t storage = 0;
  /// host + network + snapshot + storage.
  std::int64_t moved() const { return host + network + snapshot + storage; }
  friend bool operator==(const PlanBytes&, const PlanBytes&) = default;
};

struct Plan {
  std::uint64_t from_hash = 0;
  std::uint64_t to_hash = 0;
  std::vector<Move> moves;  // ordered by (tensor, box, device)
  PlanBytes bytes;
  std::int64_t volume_bound = 0;
  std::int64_t busiest_port_bytes = 0;  // max over ports: a device's, a host's to the network
  std::optional<std::int64_t> busiest_port_bound;  // empty until a certificate computes it
  std::map<DeviceId, std::int64_t> peak_memory;    // old + new - kept, during the move
  std::int64_t single_source_pieces = 0;           // moved cells that only one device holds
  double transfer_seconds = 0;                     // estimate from the topology's bandwidths
  /// xxh3-64 over a canonical encoding of both hashes and all moves.
  std::uint64_t hash = 0;
};

/// The layouts may differ in mesh and devices and also in how the tensors are cut and placed (ZeRO
/// switched on), not in what the tensors are.
/// \error kInvalidArgument if a tensor is in one layout only or has another dtype, shape or role in
///     the other (names it).
Result<Plan> MakePlan(const Layout& from, const Layout& to, const Topology& topology);

/// Which device of `devices` plays which rank of `shape` so that as many bytes as possible already
/// lie where they are needed (assignment problem, exact). Ties: as many bytes as possible on the
/// host, then devices in ascending order.
/// Only as many devices as the shape has ranks are taken; \pre devices.size() >= ranks.
/// `collection` is the target's: the tensors of `from`, maybe under other rules.
/// \error as Layout::Make for the target, and as MakePlan.
Result<DeviceMesh> Place(const Layout& from, const MeshShape& shape,
                         const CollectionPtr& collection, const std::vector<DeviceId>& devices,
                         const Topology& topology);
/// The same where the rules stay.
Result<DeviceMesh> Place(const Layout& from, const MeshShape& shape,
                         const std::vector<DeviceId>& devices, const Topology& topology);

/// Least bytes that any plan between the two must bring to devices that lack them: the sum over
/// devices of what they need and do not hold. Shares no code with the planner.
/// \pre the layouts are of the same tensors (MakePlan checks it)
std::int64_t VolumeBound(const Layout& from, const Layout& to);

}  // namespace tessera::ptc
