// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Prices of bytes at the ports of hosts and racks. By duality of linear programs they prove that
/// no division of loads among holders is faster.

#include <cstdint>
#include <map>

namespace tessera::ptc {

/// Prices by the name of the host or rack, in any unit. Ports that are not listed are free.
///
/// Each load costs its bytes times the price of its cheapest way from a holder. Each port earns at
/// most its speed times its price per second. So for any prices >= 0 no plan is faster than the sum
/// of costs divided by the sum of earnings. Wrong prices make this bound lower but never false; the
/// best prices reach the optimum.
struct PortPrices {
  std::map<std::int32_t, std::int64_t> out_of_host;
  std::map<std::int32_t, std::int64_t> out_of_rack;
  std::map<std::int32_t, std::int64_t> into_rack;
  friend bool operator==(const PortPrices&, const PortPrices&) = default;
};

}  // namespace tessera::ptc
