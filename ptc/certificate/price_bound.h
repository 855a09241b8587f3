// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A bound on how long loads take that go through the ports of hosts and racks at once, from prices
/// on these ports. Prices come from the planner, but need not be believed: any give a true bound.

#include <cstdint>
#include <vector>

#include "ptc/certificate/max_flow.h"
#include "ptc/topology/port_prices.h"

namespace tessera::ptc {

/// By weak duality: a load that goes over several ways pays at least the price of the cheapest, and
/// in t seconds no more can be paid than t times (the sum over ports of speed times price). So t is
/// at least what the loads pay divided by that sum. In integers.
class PriceBound {
 public:
  /// By position: names of hosts and racks, the rack of each host, and speeds in bytes a second,
  /// which are rounded to whole ones.
  struct Network {
    std::vector<std::int32_t> hosts, racks;
    std::vector<int> rack_of_host;
    std::vector<double> host_speeds;
    double rack_speed = 1;
  };
  PriceBound(const PortPrices& prices, Network network);

  bool has_prices() const { return paid_a_second_ > 0; }
  /// Any of `hosts` sends it to somebody in `rack`. \pre hosts is not empty, bytes >= 0
  void Add(const std::vector<int>& hosts, int rack, std::int64_t bytes);
  /// It comes from outside all racks. \pre bytes >= 0
  void AddFromOutside(int rack, std::int64_t bytes);

  enum class PortKind { kOutOfHost, kOutOfRack, kIntoRack };
  struct Bound {
    double seconds = 0;
    std::int64_t bytes = 0;  // so many through the port below, rounded up
    PortKind kind = PortKind::kOutOfHost;
    int position = -1;  // the first port with a price, of a host or rack; -1: there are no loads
    int num_ports = 0;  // that have a price
  };
  Bound Least() const;

 private:
  struct Port {
    PortKind kind;
    int position;
    std::int64_t speed;
  };
  void CountPort(PortKind kind, std::size_t position, double speed, std::int64_t price);

  Network network_;
  std::vector<std::int64_t> out_of_host_, out_of_rack_, into_rack_;
  std::vector<Port> priced_;
  Wide paid_a_second_ = 0;
  Wide paid_ = 0;
};

}  // namespace tessera::ptc
