// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Which device sends what to which, before anything is said about when.

#include <cstdint>
#include <optional>
#include <vector>

#include "ptc/plan/plan.h"
#include "ptc/topology/topology.h"

namespace tessera::ptc {

/// Devices, hosts and the seconds that bytes take through their ports.
class Sites {
 public:
  Sites(std::vector<DeviceId> devices, const Topology& topology);
  std::size_t num_devices() const { return devices_.size(); }
  std::size_t num_hosts() const { return hosts_.size(); }
  DeviceId Device(std::size_t position) const { return devices_[position]; }
  std::size_t Position(DeviceId device) const;
  std::size_t HostOf(std::size_t device) const { return host_of_[device]; }
  /// "n3g1" of a device's port, "n3" of a host's. Ports are numbered: devices, then hosts.
  std::string PortName(std::size_t port) const;
  std::size_t num_ports() const { return devices_.size() + hosts_.size(); }
  /// The ports between two devices: their own on one host, else those of their hosts.
  std::size_t PortTowards(std::size_t device, std::size_t other) const {
    return host_of_[device] == host_of_[other] ? device : devices_.size() + host_of_[device];
  }
  double Seconds(std::size_t port, std::int64_t bytes) const {
    return static_cast<double>(bytes) / speeds_[port];
  }

 private:
  std::vector<DeviceId> devices_;    // ascending
  std::vector<std::int32_t> hosts_;  // ascending
  std::vector<std::size_t> host_of_;
  std::vector<double> speeds_;  // by port, bytes a second
};

/// A cell on its way from one device to another; devices by position.
struct Hop {
  std::size_t source = 0;
  std::size_t device = 0;
  int tensor = 0;
  Box cell;
  Box from;
  Box piece;
  std::int64_t element_bytes = 1;         // as it travels
  std::optional<std::size_t> after = {};  // the hop that brought the cell to the source
  std::int64_t bytes() const { return cell.num_elements() * element_bytes; }
};

/// Bytes through each port in one direction.
struct Loads {
  explicit Loads(std::size_t num_ports) : out(num_ports), in(num_ports) {}
  std::vector<std::int64_t> out, in;
  void Add(const Sites& sites, std::size_t source, std::size_t device, std::int64_t bytes) {
    out[sites.PortTowards(source, device)] += bytes;
    in[sites.PortTowards(device, source)] += bytes;
  }
};

/// The remote copies of a plan as they are; `collection` is the one that they come from.
std::vector<Hop> DirectHops(const Plan& plan, const Collection& collection, const Sites& sites);

/// Which devices pass on to each other: those of a host, or only those of one node of it.
enum class RelayWithin : std::uint8_t { kHost, kNode };

/// What k > 1 devices of a host (or node) get from other hosts goes there once: whole, or in up to
/// k slices where it is large beside what comes in all, to those that have taken least, from where
/// each would have got the whole, and from them to the others. So a network port has never more to
/// do than before. A cell is relayed where afterwards no port of the k
/// devices takes longer than one of the network ports that are relieved did: the busiest port never
/// gets worse. What is passed on has the dtype of `collection`, the target's.
std::vector<Hop> RelayedHops(const std::vector<Hop>& direct, const Collection& collection,
                             const Sites& sites, RelayWithin within);

}  // namespace tessera::ptc
