// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What a byte costs at each port of hosts and racks: the proof that no division of loads among
/// holders is faster, by duality of linear programs.

#include <cstdint>
#include <map>

namespace tessera::ptc {

/// Prices by the name of the host or rack, in any unit; ports that are not named cost nothing.
///
/// For any prices >= 0 no plan is faster than the sum over loads of (bytes times the price of the
/// cheapest way from a holder) over the sum over ports of (speed times price): a wrong price makes
/// the bound weaker, never wrong. The best prices attain the optimum.
struct PortPrices {
  std::map<std::int32_t, std::int64_t> out_of_host;
  std::map<std::int32_t, std::int64_t> out_of_rack;
  std::map<std::int32_t, std::int64_t> into_rack;
  friend bool operator==(const PortPrices&, const PortPrices&) = default;
};

}  // namespace tessera::ptc
