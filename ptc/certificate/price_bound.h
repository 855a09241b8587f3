// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A lower bound on the time of loads that use the ports of hosts and racks at once, computed from
/// prices of these ports. The planner provides the prices, but the bound holds for any prices.

#include <cstdint>
#include <vector>

#include "ptc/certificate/max_flow.h"
#include "ptc/topology/port_prices.h"

namespace tessera::ptc {

/// A bound by weak duality. A load that may use several ways costs at least the price of the
/// cheapest one. In t seconds all ports together earn at most t times the sum of speed times price.
/// So t is at least the cost of all loads divided by that sum. Computed in integers.
class PriceBound {
 public:
  /// Names, racks and speeds by position. Speeds are in bytes per second and are rounded to whole
  /// numbers.
  struct Network {
    std::vector<std::int32_t> hosts, racks;
    std::vector<int> rack_of_host;
    std::vector<double> host_speeds;
    double rack_speed = 1;
  };
  PriceBound(const PortPrices& prices, Network network);

  bool has_prices() const { return earned_per_second_ > 0; }
  /// Adds bytes that any of `hosts` may send to devices in `rack`.
  /// \pre hosts is not empty, bytes >= 0
  void Add(const std::vector<int>& hosts, int rack, std::int64_t bytes);
  /// Adds bytes that enter `rack` from storage, which is outside all racks.
  /// \pre bytes >= 0
  void AddFromStorage(int rack, std::int64_t bytes);

  enum class PortKind { kOutOfHost, kOutOfRack, kIntoRack };
  struct Bound {
    double seconds = 0;
    std::int64_t bytes = 0;  // the bound as bytes through the port below, rounded up
    PortKind kind = PortKind::kOutOfHost;
    int position = -1;  // of the host or rack of the first port with a price; -1: no loads
    int num_ports = 0;  // the number of ports with a price
  };
  Bound Least() const;

 private:
  struct PricedPort {
    PortKind kind;
    int position;
    std::int64_t speed;
  };
  void CountPort(PortKind kind, std::size_t position, double speed, std::int64_t price);

  Network network_;
  std::vector<std::int64_t> out_of_host_, out_of_rack_, into_rack_;
  std::vector<PricedPort> priced_;
  Wide earned_per_second_ = 0;
  Wide cost_ = 0;
};

}  // namespace tessera::ptc
