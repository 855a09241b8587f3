// SPDX-License-Identifier: Apache-2.0
#include "ptc/certificate/price_bound.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "ptc/base/at.h"

namespace tessera::ptc {
namespace {

/// The prices by position, limited to a range in which sums of products do not overflow.
std::vector<std::int64_t> PricesByPosition(const std::map<std::int32_t, std::int64_t>& prices,
                                           const std::vector<std::int32_t>& names) {
  constexpr std::int64_t kMost = std::int64_t{1} << 30U;
  std::vector<std::int64_t> result;
  for (std::int32_t name : names) {
    const auto it = prices.find(name);
    result.push_back(it == prices.end() ? 0 : std::clamp(it->second, std::int64_t{0}, kMost));
  }
  return result;
}

}  // namespace

PriceBound::PriceBound(const PortPrices& prices, Network network)
    : network_(std::move(network)),
      out_of_host_(PricesByPosition(prices.out_of_host, network_.hosts)),
      out_of_rack_(PricesByPosition(prices.out_of_rack, network_.racks)),
      into_rack_(PricesByPosition(prices.into_rack, network_.racks)) {
  for (std::size_t host = 0; host < network_.hosts.size(); ++host) {
    CountPort(PortKind::kOutOfHost, host, network_.host_speeds[host], out_of_host_[host]);
  }
  for (std::size_t rack = 0; rack < network_.racks.size(); ++rack) {
    CountPort(PortKind::kOutOfRack, rack, network_.rack_speed, out_of_rack_[rack]);
  }
  for (std::size_t rack = 0; rack < network_.racks.size(); ++rack) {
    CountPort(PortKind::kIntoRack, rack, network_.rack_speed, into_rack_[rack]);
  }
}

void PriceBound::CountPort(PortKind kind, std::size_t position, double speed, std::int64_t price) {
  if (price == 0) return;
  const std::int64_t whole =
      std::max(std::int64_t{1}, static_cast<std::int64_t>(std::llround(speed)));
  priced_.push_back({kind, static_cast<int>(position), whole});
  earned_per_second_ += Wide{whole} * price;
}

void PriceBound::Add(const std::vector<int>& hosts, int rack, std::int64_t bytes) {
  if (!has_prices()) return;
  std::optional<std::int64_t> cheapest;
  for (int host : hosts) {
    std::int64_t price = out_of_host_[At(host)];
    const int from = network_.rack_of_host[At(host)];
    if (from != rack) price += out_of_rack_[At(from)] + into_rack_[At(rack)];
    if (!cheapest || price < *cheapest) cheapest = price;
  }
  cost_ += Wide{bytes} * cheapest.value_or(0);
}

void PriceBound::AddFromStorage(int rack, std::int64_t bytes) {
  cost_ += Wide{bytes} * into_rack_[At(rack)];
}

PriceBound::Bound PriceBound::Least() const {
  Bound bound;
  if (!has_prices() || cost_ == 0) return bound;
  const PricedPort& first = priced_.front();
  bound.seconds = static_cast<double>(cost_) / static_cast<double>(earned_per_second_);
  constexpr double kMost = 0x1p62;
  bound.bytes = static_cast<std::int64_t>(
      std::min(std::ceil(bound.seconds * static_cast<double>(first.speed)), kMost));
  bound.kind = first.kind;
  bound.position = first.position;
  bound.num_ports = static_cast<int>(priced_.size());
  return bound;
}

}  // namespace tessera::ptc
