// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The transfers of a plan between pairs of devices, without their times.

#include <cstdint>
#include <optional>
#include <vector>

#include "ptc/plan/plan.h"
#include "ptc/topology/topology.h"

namespace tessera::ptc {

/// The devices and hosts, their ports, and the time that bytes take through a port.
class Sites {
 public:
  Sites(std::vector<DeviceId> devices, const Topology& topology);
  std::size_t num_devices() const { return devices_.size(); }
  std::size_t num_hosts() const { return hosts_.size(); }
  DeviceId Device(std::size_t position) const { return devices_[position]; }
  std::size_t Position(DeviceId device) const;
  std::size_t HostOf(std::size_t device) const { return host_of_[device]; }
  /// "n3g1" for the port of a device, "n3" for that of a host. The ports of devices have the first
  /// numbers, followed by those of hosts.
  std::string PortName(std::size_t port) const;
  std::size_t num_ports() const { return devices_.size() + hosts_.size(); }
  /// The port that `device` uses towards `other`: its own on the same host, else that of its host.
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
  std::vector<double> speeds_;  // by port, bytes per second
};

/// A transfer of a cell from one device to another. Devices are positions in Sites.
struct Hop {
  std::size_t source = 0;
  std::size_t device = 0;
  int tensor = 0;
  Box cell;
  Box from;
  Box piece;
  std::int64_t element_bytes = 1;         // in the dtype that is sent
  std::optional<std::size_t> after = {};  // the hop that brought the cell to the source
  std::int64_t bytes() const { return cell.num_elements() * element_bytes; }
};

/// Bytes through each port, by direction.
struct Loads {
  explicit Loads(std::size_t num_ports) : out(num_ports), in(num_ports) {}
  std::vector<std::int64_t> out, in;
  void Add(const Sites& sites, std::size_t source, std::size_t device, std::int64_t bytes) {
    out[sites.PortTowards(source, device)] += bytes;
    in[sites.PortTowards(device, source)] += bytes;
  }
};

/// The remote copies of a plan, unchanged. `collection` is that of the old layout.
std::vector<Hop> DirectHops(const Plan& plan, const Collection& collection, const Sites& sites);

/// A cell that k > 1 devices of a host receive from other hosts is sent to that host
/// once: whole, or in up to k slices if it is large relative to all that enters the host. The
/// slices go to the devices that have received the least so far; each comes from the source that
/// would have sent that device the whole cell. These devices then send it to the others. So no
/// network port gets more load.
///
/// A cell is relayed only if afterwards no port of the k devices takes longer than one of the
/// relieved network ports did before. So the busiest port never gets worse. Relayed bytes have the
/// dtype of `collection`, which is the target's.
std::vector<Hop> RelayedHops(const std::vector<Hop>& direct, const Collection& collection,
                             const Sites& sites);

}  // namespace tessera::ptc
