// SPDX-License-Identifier: Apache-2.0
#include "ptc/plan/rack_program.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "ptc/plan/port_program.h"

namespace tessera::ptc {
namespace {

std::int64_t SumOfShares(const std::vector<std::int64_t>& shares) {
  return std::accumulate(shares.begin(), shares.end(), std::int64_t{0});
}
std::size_t LargestShare(const std::vector<std::int64_t>& shares) {
  return static_cast<std::size_t>(std::max_element(shares.begin(), shares.end()) - shares.begin());
}

/// Divides `bytes` into the given parts, rounded. The largest share gets the rest.
std::vector<std::int64_t> SplitInParts(std::int64_t bytes, const std::vector<double>& parts) {
  std::vector<std::int64_t> shares;
  std::int64_t rest = bytes;
  for (double part : parts) {
    const std::int64_t share = std::llround(static_cast<double>(bytes) * std::min(part, 1.0));
    shares.push_back(std::min(share, rest));
    rest -= shares.back();
  }
  shares[LargestShare(shares)] += rest;
  return shares;
}

/// Scales the prices so that the highest is 2^30. Rounding then costs a bound almost nothing.
std::vector<std::int64_t> WholePrices(const std::vector<double>& prices) {
  if (prices.empty()) return {};
  const double most = *std::max_element(prices.begin(), prices.end());
  std::vector<std::int64_t> whole;
  for (double price : prices) {
    whole.push_back(most > 0 ? std::llround(price / most * 0x1p30) : 0);
  }
  return whole;
}

}  // namespace

bool RackWay::Has(std::size_t port) const { return std::find(begin(), end(), port) != end(); }

std::optional<RackSolution> Solve(const RackProgram& program, const WayShares& shares) {
  PortProgram ports;
  ports.floor = static_cast<double>(program.floor.bytes) / static_cast<double>(program.floor.speed);
  if (!(ports.floor > 0)) return std::nullopt;
  ports.speeds.assign(program.speeds.begin(), program.speeds.end());
  std::vector<std::int64_t> fixed = program.fixed;
  // Loads with the same ways are one load of the program. Loads with one way are fixed bytes.
  struct Group {
    std::vector<std::size_t> loads;
    std::vector<std::int64_t> shares;
  };
  std::map<std::vector<RackWay>, Group> groups;
  for (std::size_t l = 0; l < shares.size(); ++l) {
    const std::vector<RackWay>& ways = program.ways[l];
    if (ways.size() == 1) {
      for (std::size_t port : ways[0]) fixed[port] += shares[l][0];
      continue;
    }
    if (SumOfShares(shares[l]) == 0) continue;
    Group& group = groups[ways];
    group.loads.push_back(l);
    group.shares.resize(ways.size());
    for (std::size_t s = 0; s < ways.size(); ++s) group.shares[s] += shares[l][s];
  }
  ports.fixed.assign(fixed.begin(), fixed.end());
  for (const auto& [ways, group] : groups) {
    PortProgram::Load& load = ports.loads.emplace_back();
    for (const RackWay& way : ways) load.ways.emplace_back(way.begin(), way.end());
    load.bytes = static_cast<double>(SumOfShares(group.shares));
    load.start = LargestShare(group.shares);
  }
  const std::optional<PortSolution> solution = Solve(ports);
  if (!solution) return std::nullopt;
  RackSolution result{shares, WholePrices(solution->prices)};
  std::size_t g = 0;
  for (const auto& [ways, group] : groups) {
    for (std::size_t l : group.loads) {
      result.shares[l] = SplitInParts(SumOfShares(shares[l]), solution->parts[g]);
    }
    ++g;
  }
  return result;
}

}  // namespace tessera::ptc
