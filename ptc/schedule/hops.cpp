// SPDX-License-Identifier: Apache-2.0
#include "ptc/schedule/hops.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <variant>

#include "ptc/base/check.h"
#include "ptc/cells.h"
#include "ptc/schedule/split_box.h"

namespace tessera::ptc {

Sites::Sites(std::vector<DeviceId> devices, const Topology& topology)
    : devices_(std::move(devices)), speeds_(devices_.size(), topology.host_bytes_per_second) {
  for (DeviceId device : devices_) hosts_.push_back(topology.HostOf(device));
  std::sort(hosts_.begin(), hosts_.end());
  hosts_.erase(std::unique(hosts_.begin(), hosts_.end()), hosts_.end());
  for (DeviceId device : devices_) {
    const auto it = std::lower_bound(hosts_.begin(), hosts_.end(), topology.HostOf(device));
    host_of_.push_back(static_cast<std::size_t>(it - hosts_.begin()));
  }
  for (std::int32_t host : hosts_) speeds_.push_back(topology.NetworkOf(host));
}

std::size_t Sites::Position(DeviceId device) const {
  const auto it = std::lower_bound(devices_.begin(), devices_.end(), device);
  return static_cast<std::size_t>(it - devices_.begin());
}

std::string Sites::PortName(std::size_t port) const {
  if (port < devices_.size()) return ToString(devices_[port]);
  return fmt::format("n{}", hosts_[port - devices_.size()]);
}

std::vector<Hop> DirectHops(const Plan& plan, const Collection& collection, const Sites& sites) {
  std::vector<Hop> hops;
  for (const Move& move : plan.moves) {
    const auto* copy = std::get_if<RemoteCopy>(&move);
    if (copy == nullptr) continue;
    const DType dtype = collection.tensors()[static_cast<std::size_t>(copy->tensor)].dtype;
    hops.push_back({sites.Position(copy->source), sites.Position(copy->device), copy->tensor,
                    copy->cell, copy->from, copy->piece, SizeBytes(dtype), std::nullopt});
  }
  return hops;
}

namespace {

/// A slice is at least this fraction of the bytes that each device of a host takes for the others.
/// So the devices take nearly the same, and there are few more hops than cells.
constexpr double kSlicesOfShare = 8;

class HopRelay {
 public:
  HopRelay(const std::vector<Hop>& direct, const Collection& collection, const Sites& sites)
      : direct_(direct),
        collection_(collection),
        sites_(sites),
        loads_(sites.num_ports()),
        taken_(sites.num_devices()) {
    for (const Hop& hop : direct) {
      loads_.Add(sites, hop.source, hop.device, hop.bytes());
      if (sites.HostOf(hop.source) != sites.HostOf(hop.device)) {
        entering_[sites_.HostOf(hop.device)] += hop.bytes();
      }
    }
  }

  std::vector<Hop> Run() && {
    std::map<std::pair<int, std::size_t>, std::vector<std::size_t>> groups;  // by tensor and host
    for (std::size_t h = 0; h < direct_.size(); ++h) {
      const Hop& hop = direct_[h];
      if (sites_.HostOf(hop.source) == sites_.HostOf(hop.device)) {
        out_.push_back(hop);
      } else {
        groups[{hop.tensor, sites_.HostOf(hop.device)}].push_back(h);
      }
    }
    for (const auto& [where, hops] : groups) Group(hops);
    return std::move(out_);
  }

 private:
  /// Handles the hops of one tensor from other hosts to one host.
  void Group(const std::vector<std::size_t>& hops) {
    std::vector<std::size_t> devices;
    for (std::size_t h : hops) devices.push_back(direct_[h].device);
    std::sort(devices.begin(), devices.end());
    devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
    if (devices.size() == 1) {
      for (std::size_t h : hops) out_.push_back(direct_[h]);
      return;
    }
    // The hops to different devices may be cut differently, so find their common cells.
    TensorPieces pieces;
    pieces.held.resize(devices.size());
    pieces.needed.resize(devices.size());
    std::vector<std::vector<std::size_t>> hops_to(devices.size());
    for (std::size_t h : hops) {
      const auto it = std::lower_bound(devices.begin(), devices.end(), direct_[h].device);
      const auto position = static_cast<std::size_t>(it - devices.begin());
      pieces.needed[position].push_back(direct_[h].cell);
      hops_to[position].push_back(h);
    }
    for (const Cell& cell : MakeCells(pieces)) {
      std::vector<const Hop*> incoming;  // one per device that lacks the cell
      for (std::size_t position : cell.needers.ToVector()) {
        for (std::size_t h : hops_to[position]) {
          if (Contains(direct_[h].cell, cell.box)) incoming.push_back(&direct_[h]);
        }
      }
      TESSERA_DCHECK(incoming.size() == cell.needers.size());
      if (!TryRelay(cell.box, incoming)) {
        for (const Hop* hop : incoming) out_.push_back(Part(*hop, cell.box));
      }
    }
  }

  static Hop Part(const Hop& hop, const Box& cell) {
    Hop part = hop;
    part.cell = cell;
    return part;
  }

  /// The number of slices in which a cell of `bytes` goes to k devices of a host.
  std::int64_t NumSlices(std::size_t host, std::int64_t bytes, std::size_t k) const {
    const auto devices = static_cast<double>(k);
    const double share = static_cast<double>(entering_.at(host)) / devices / devices;
    const double slices = std::ceil(static_cast<double>(bytes) * kSlicesOfShare / share);
    return static_cast<std::int64_t>(std::clamp(slices, 1.0, devices));
  }

  bool TryRelay(const Box& box, const std::vector<const Hop*>& incoming) {
    const std::size_t k = incoming.size();
    if (k < 2) return false;
    const std::int64_t whole = Part(*incoming.front(), box).bytes();
    const std::vector<Box> slices =
        SplitEvenly(box, NumSlices(sites_.HostOf(incoming.front()->device), whole, k));
    // The devices that have taken the least so far take one slice each.
    std::vector<const Hop*> takers = incoming;
    std::stable_sort(takers.begin(), takers.end(), [this](const Hop* a, const Hop* b) {
      return taken_[a->device] < taken_[b->device];
    });
    std::vector<Hop> first;
    for (std::size_t s = 0; s < slices.size(); ++s) first.push_back(Part(*takers[s], slices[s]));

    double relieved = 0;
    for (const Hop* hop : incoming) {
      const std::size_t out = sites_.PortTowards(hop->source, hop->device);
      const std::size_t in = sites_.PortTowards(hop->device, hop->source);
      relieved = std::max(
          {relieved, sites_.Seconds(out, loads_.out[out]), sites_.Seconds(in, loads_.in[in])});
    }
    const TensorSpec& spec =
        collection_.tensors()[static_cast<std::size_t>(incoming.front()->tensor)];
    const std::int64_t new_bytes = SizeBytes(spec.dtype);
    const auto others = static_cast<std::int64_t>(k) - 1;
    double inside = 0;
    for (const Hop* hop : incoming) {
      std::int64_t received = 0;  // elements
      for (const Hop& slice : first)
        received += slice.device == hop->device ? slice.cell.num_elements() : 0;
      const std::int64_t out = loads_.out[hop->device] + others * received * new_bytes;
      const std::int64_t in = loads_.in[hop->device] + (box.num_elements() - received) * new_bytes;
      inside = std::max(inside, sites_.Seconds(hop->device, std::max(out, in)));
    }
    if (inside > relieved) return false;

    for (const Hop* hop : incoming) loads_.Add(sites_, hop->source, hop->device, -whole);
    for (const Hop& slice : first) {
      const std::size_t arrival = out_.size();
      loads_.Add(sites_, slice.source, slice.device, slice.bytes());
      taken_[slice.device] += slice.bytes();
      out_.push_back(slice);
      for (const Hop* hop : incoming) {
        if (hop->device == slice.device) continue;
        Hop forward = slice;
        forward.source = slice.device;
        forward.from = slice.piece;
        forward.device = hop->device;
        forward.piece = hop->piece;
        forward.element_bytes = new_bytes;
        forward.after = arrival;
        loads_.Add(sites_, forward.source, forward.device, forward.bytes());
        out_.push_back(forward);
      }
    }
    return true;
  }

  const std::vector<Hop>& direct_;
  const Collection& collection_;
  const Sites& sites_;
  Loads loads_;
  std::vector<std::int64_t> taken_;               // by device: bytes for itself and to relay
  std::map<std::size_t, std::int64_t> entering_;  // by host: bytes if sent directly
  std::vector<Hop> out_;
};

}  // namespace

std::vector<Hop> RelayedHops(const std::vector<Hop>& direct, const Collection& collection,
                             const Sites& sites) {
  return HopRelay(direct, collection, sites).Run();
}

}  // namespace tessera::ptc
