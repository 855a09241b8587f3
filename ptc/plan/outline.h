// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The whole plan by classes: what a cluster of any size needs to know of a change, without a list
/// of cells or moves. The moves of one device follow from it.
///
/// A class is all that the same devices hold. The bytes that a device needs of a class are counted
/// in the order of the tensors, of their cells, and row-major in a cell; a flow is a range of them
/// that one source sends.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ptc/layout.h"
#include "ptc/topology/port_prices.h"
#include "ptc/topology/topology.h"

namespace tessera::ptc {

struct Kinds;

struct PlanOptions {
  /// Whether a floating tensor may have another floating dtype after the change. Off, that is an
  /// error: those who carry out a plan must know how to convert.
  bool convert_dtypes = false;
  /// Devices of the old layout whose state cannot be read, such as those of a host that failed.
  /// What they alone held comes from storage: a snapshot or a checkpoint. Others change nothing.
  std::vector<DeviceId> lost = {};
};

struct PlanBytes {
  std::int64_t kept = 0;      // stay in place
  std::int64_t device = 0;    // repacked on the same device
  std::int64_t host = 0;      // from another device of the same host
  std::int64_t network = 0;   // from another host
  std::int64_t snapshot = 0;  // from a snapshot in memory: the coordinator of a job knows of it
  std::int64_t storage = 0;   // from a snapshot or checkpoint, where no live device holds it
  /// host + network + snapshot + storage.
  std::int64_t moved() const { return host + network + snapshot + storage; }
  friend bool operator==(const PlanBytes&, const PlanBytes&) = default;
};

/// Bytes of a class that `source` sends to `device`: the next ones after the flow before it, where
/// that has the same device, class and element size. Source and device are positions in
/// Outline::devices.
struct ClassFlow {
  int device = 0;
  int held_class = 0;
  int element_bytes = 1;
  int source = 0;
  std::int64_t bytes = 0;
  friend auto operator<=>(const ClassFlow&, const ClassFlow&) = default;
};

/// Bytes of a class that `device`, a position in Outline::devices, lacks and no device can send.
struct StorageNeed {
  int device = 0;
  int held_class = 0;
  int element_bytes = 1;
  std::int64_t bytes = 0;
  friend auto operator<=>(const StorageNeed&, const StorageNeed&) = default;
};

/// Elements that no live device holds.
struct LostRange {
  int tensor = 0;
  Box box;
  friend bool operator==(const LostRange&, const LostRange&) = default;
};

/// Tensors of one role that change their dtype on the way.
struct Conversion {
  TensorRole role = TensorRole::kParam;
  DType from = DType::kF32;
  DType to = DType::kF32;
  std::int64_t num_tensors = 0;
  std::int64_t bytes = 0;  // of one whole copy, before
  std::string first;       // name of the first of them
  friend bool operator==(const Conversion&, const Conversion&) = default;
};

/// The port that is done last.
struct BusiestPort {
  std::int64_t bytes = 0;
  double seconds = 0;
  std::string name = {};  // "n3 out", "n0g1 in", "rack 2 in"; empty where nothing moves
  friend bool operator==(const BusiestPort&, const BusiestPort&) = default;
};

/// A stage and parts of them: the devices that hold one class.
struct HeldClass {
  int from_stages = 0;  // numbers of Kinds
  int from_axes = 0;
  std::vector<std::size_t> parts;  // ascending
  bool is_lost = false;            // all these devices are lost
};

struct Outline {
  std::uint64_t from_hash = 0;
  std::uint64_t to_hash = 0;
  std::vector<DeviceId> devices;  // of either layout, ascending
  std::vector<HeldClass> classes;
  std::vector<ClassFlow> flows;         // by device, class, element size, and range
  std::vector<std::size_t> first_flow;  // by device, and one more
  std::vector<StorageNeed> storage;     // by device, class and element size
  std::vector<DeviceId> lost;           // devices of the old layout, ascending
  std::int64_t lost_tensors = 0;        // tensors that storage must provide in part or whole
  std::int64_t lost_bytes = 0;          // of them, one copy of what storage must provide
  PlanBytes bytes;                      // source bytes where a dtype changes
  std::vector<Conversion> conversions;  // by role, old dtype, new dtype
  BusiestPort busiest_port;
  /// Proof of the time for the certificate where ports of racks limit together with those of hosts,
  /// else none; not in the hash.
  PortPrices port_prices;
  /// By device: old + new - kept, during the move.
  std::vector<std::int64_t> peak_memory;
  std::int64_t single_source_pieces = 0;  // moved cells that only one device holds
  std::int64_t single_source_bytes = 0;   // of them, each counted once
  /// Until the last port is done, at the bandwidths of `topology`; repacking is not in it.
  double transfer_seconds = 0;
  Topology topology;
  /// Of both layouts and all flows (FORMAT.md, Plan hash).
  std::uint64_t hash = 0;
  std::shared_ptr<const Kinds> kinds;  // what MovesOf expands with
};

/// A pure function of its inputs: every agent computes the same outline and only its hash is
/// exchanged. The layouts may differ in mesh, devices and stages and in how the tensors are cut and
/// placed (ZeRO switched on), not in what the tensors are.
/// Cost: near-linear in devices and in tensors; geometry is done once a kind of tensor.
/// \error kInvalidArgument if a tensor is in one layout only or has another shape, role or, but for
///     conversions, dtype in the other (names it); or if the bytes of all devices leave int64.
Result<Outline> MakeOutline(const Layout& from, const Layout& to, const Topology& topology,
                            const PlanOptions& options = {});

/// The first `most` of the ranges that storage must provide, by tensor and box. Each is as large as
/// what the same devices need.
std::vector<LostRange> LostRanges(const Outline& outline, std::size_t most);

}  // namespace tessera::ptc
