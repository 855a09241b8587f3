// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Divides loads among ways through the ports of hosts and racks, as one linear program
/// (port_program.h), and converts the solution to whole bytes.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "ptc/plan/balance.h"

namespace tessera::ptc {

/// The ports on one way from a host to a rack: the host's alone, or three.
class RackWay {
 public:
  explicit RackWay(std::size_t host) { Add(host); }
  void Add(std::size_t port) { ports_[count_++] = port; }
  const std::size_t* begin() const { return ports_.data(); }
  const std::size_t* end() const { return ports_.data() + count_; }
  bool crosses() const { return count_ > 1; }
  bool Has(std::size_t port) const;
  friend auto operator<=>(const RackWay&, const RackWay&) = default;

 private:
  std::array<std::size_t, 3> ports_ = {};
  std::size_t count_ = 0;
};

/// The bytes of each load on each of its ways.
using WayShares = std::vector<std::vector<std::int64_t>>;

struct RackProgram {
  std::vector<std::vector<RackWay>> ways;  // by load; each list in ascending order of hosts
  std::vector<std::int64_t> speeds;        // by port
  std::vector<std::int64_t> fixed;         // by port: bytes that do not belong to the loads
  PortTime floor;                          // shorter times are not worth a search
};
struct RackSolution {
  WayShares shares;
  std::vector<std::int64_t> prices;  // per byte, by port, >= 0; empty if the floor was reached
};
/// Returns the best shares, up to one byte per way, and the prices that prove them. `shares` gives
/// the bytes of each load and the division from which the search starts.
/// \return nullopt if the program is too large
std::optional<RackSolution> Solve(const RackProgram& program, const WayShares& shares);

}  // namespace tessera::ptc
