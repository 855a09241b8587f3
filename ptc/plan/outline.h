// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The whole plan by classes. It describes a change on a cluster of any size without a list of
/// cells or moves; the moves of one device follow from it.
///
/// A class is all bytes that the same devices hold. The bytes of a class that a device needs are
/// counted in the order of tensors, then of cells, then row-major in the cell. A flow is a range of
/// these bytes that one source sends.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ptc/layout.h"
#include "ptc/topology/port_prices.h"
#include "ptc/topology/topology.h"

namespace tessera::ptc {

struct Kinds;

/// Whether bytes that several devices of a node lack cross to the node once (Relay).
enum class Relaying : std::uint8_t {
  kNever,
  kIfFaster,  // if both phases together take no longer than sending everything directly
  kAlways,    // for a plan that is known to be relayed
};

struct PlanOptions {
  /// Whether a floating-point tensor may change to another floating-point dtype. If false, such a
  /// change is an error, because whatever carries out the plan must be able to convert.
  bool convert_dtypes = false;
  /// Devices of the old layout whose state cannot be read, such as those of a failed host. State
  /// that only they held is read from storage: a snapshot or a checkpoint. Other devices are
  /// ignored.
  std::vector<DeviceId> lost = {};
  /// Plans with lost devices are never relayed.
  Relaying relaying = Relaying::kNever;
  /// Whether to compute also what is only shown and estimated, and not needed to carry out the
  /// plan. If false, these members of the outline stay empty or 0: conversions, peak_memory,
  /// repacked, single_source_pieces, single_source_bytes, bytes.kept and bytes.device.
  bool with_figures = true;
  /// The tensors to plan, ascending; the others are left out, and are not in the figures. nullptr:
  /// all tensors. It outlives the call.
  const std::vector<int>* only = nullptr;
};

struct PlanBytes {
  std::int64_t kept = 0;      // stays in place
  std::int64_t device = 0;    // repacked on the same device
  std::int64_t host = 0;      // from another device of the same host
  std::int64_t network = 0;   // from another host
  std::int64_t snapshot = 0;  // from a snapshot in memory; set by the coordinator of a job
  std::int64_t storage = 0;   // from a snapshot or checkpoint, because no live device holds it
  /// host + network + snapshot + storage.
  std::int64_t moved() const { return host + network + snapshot + storage; }
  friend bool operator==(const PlanBytes&, const PlanBytes&) = default;
};

/// Bytes of a class that `source` sends to `device`. They follow the bytes of the previous flow
/// with the same device, class and element size. Source and device are indices into
/// Outline::devices.
struct ClassFlow {
  int device = 0;
  int held_class = 0;
  int element_bytes = 1;
  int source = 0;
  std::int64_t bytes = 0;
  friend auto operator<=>(const ClassFlow&, const ClassFlow&) = default;
};

/// Bytes of a class that all of `devices` lack and that no device of their host holds. The devices
/// are on one node. These bytes are counted like those of a flow. Each device receives one range of
/// them from other hosts, and sends it to the others when it has arrived: the bytes cross the
/// network once. The network flows to a device have only its own ranges.
struct Relay {
  int held_class = 0;
  int element_bytes = 1;
  std::vector<int> devices;  // at least two indices into Outline::devices, ascending
  std::int64_t bytes = 0;
  /// The first byte of the range of devices[i]. The ranges have equal numbers of elements, up to
  /// one; RangeBegin(devices.size()) is the end.
  std::int64_t RangeBegin(std::size_t i) const;
  std::int64_t RangeBytes(std::size_t i) const { return RangeBegin(i + 1) - RangeBegin(i); }
  /// What devices[i] sends to the others together.
  std::int64_t ForwardedBy(std::size_t i) const;
  friend bool operator==(const Relay&, const Relay&) = default;
};

/// Bytes of a class that `device`, an index into Outline::devices, lacks and no device can send.
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

/// Tensors of one role whose dtype the change converts.
struct Conversion {
  TensorRole role = TensorRole::kParam;
  DType from = DType::kF32;
  DType to = DType::kF32;
  std::int64_t num_tensors = 0;
  std::int64_t bytes = 0;  // of one whole copy, before the conversion
  std::string first;       // the name of the first of them
  friend bool operator==(const Conversion&, const Conversion&) = default;
};

/// The port that finishes last.
struct BusiestPort {
  std::int64_t bytes = 0;
  double seconds = 0;
  std::string name = {};  // "n3 out", "n0g1 in", "rack 2 in"; empty if nothing moves
  friend bool operator==(const BusiestPort&, const BusiestPort&) = default;
};

/// The devices that hold one class, as a set of stages and parts.
struct HeldClass {
  int from_stages = 0;  // numbers of Kinds
  int from_axes = 0;
  std::vector<std::size_t> parts;  // ascending
  bool is_lost = false;            // whether all these devices are lost
};

struct Outline {
  std::uint64_t from_hash = 0;
  std::uint64_t to_hash = 0;
  std::vector<DeviceId> devices;  // of both layouts, ascending
  std::vector<HeldClass> classes;
  std::vector<ClassFlow> flows;         // ordered by device, class, element size and range
  std::vector<std::size_t> first_flow;  // by device: its first flow; and the end
  std::vector<Relay> relays;            // ordered by node, class, element size and devices
  std::vector<StorageNeed> storage;     // ordered by device, class and element size
  std::vector<DeviceId> lost;           // devices of the old layout, ascending
  std::int64_t lost_tensors = 0;        // tensors that storage must provide in part or whole
  std::int64_t lost_bytes = 0;          // one copy of what storage must provide of them
  PlanBytes bytes;                      // if a dtype changes: the bytes before the conversion
  std::int64_t network_direct = 0;      // bytes.network without relays
  std::vector<Conversion> conversions;  // ordered by role, old dtype and new dtype
  BusiestPort busiest_port;
  /// Prices that prove the time to the certificate, if the ports of hosts and racks limit it
  /// together; otherwise empty. Not in the hash.
  PortPrices port_prices;
  /// By device: the bytes of old + new - kept pieces, during the move.
  std::vector<std::int64_t> peak_memory;
  std::vector<std::int64_t> repacked;     // by device: bytes that it copies to itself
  std::int64_t single_source_pieces = 0;  // moved cells that only one device holds
  std::int64_t single_source_bytes = 0;   // the bytes of these cells, each counted once
  /// The time until the last port finishes at the bandwidths of `topology`, without repacking. The
  /// ports have all their bytes, also those that they forward.
  double transfer_seconds = 0;
  Topology topology;
  /// The hash of both layouts, all flows and all relays (FORMAT.md, Plan hash).
  std::uint64_t hash = 0;
  std::shared_ptr<const Kinds> kinds;  // used by MovesOf
};

/// The sums of a plan, however many outlines it has. Each is that of the member of Outline with its
/// name.
struct PlanFigures {
  std::uint64_t from_hash = 0;
  std::uint64_t to_hash = 0;
  std::uint64_t hash = 0;
  PlanBytes bytes;
  std::int64_t lost_tensors = 0;
  std::int64_t lost_bytes = 0;
  std::int64_t network_direct = 0;
  std::int64_t single_source_pieces = 0;
  std::int64_t single_source_bytes = 0;
  BusiestPort busiest_port;
  double transfer_seconds = 0;
};
PlanFigures FiguresOf(const Outline& outline);

/// A pure function of its inputs: every agent computes the same outline, and only its hash is
/// exchanged. The layouts may differ in mesh, devices, stages and cuts (for example if ZeRO is
/// switched on), but not in the tensors. The cost is nearly linear in devices and in tensors;
/// geometry is computed once per kind of tensors.
/// \error kInvalidArgument naming the tensor if the layouts differ in their tensors; or if the
///     bytes of all devices overflow int64
Result<Outline> MakeOutline(const Layout& from, const Layout& to, const Topology& topology,
                            const PlanOptions& options = {});

/// The bytes that one device sends to another, forwarded ones included.
struct DeviceFlow {
  DeviceId source;
  DeviceId device;
  std::int64_t bytes = 0;
  friend bool operator==(const DeviceFlow&, const DeviceFlow&) = default;
};
/// One entry per pair of devices, ordered by (source, device).
std::vector<DeviceFlow> DeviceFlows(const Outline& outline);

/// The first `most` ranges that storage must provide, ordered by tensor and box. Each range extends
/// as far as the same devices need it.
std::vector<LostRange> LostRanges(const Outline& outline, std::size_t most);
/// The tensors of which some element must come from storage, ascending.
std::vector<int> LostTensors(const Outline& outline);

}  // namespace tessera::ptc
