// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The shares of loads on ways through the ports of hosts and racks as one linear program
/// (port_program.h), and back in whole bytes.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "ptc/plan/balance.h"

namespace tessera::ptc {

/// Ports that one option of a load goes through: the host's alone, or three.
class Way {
 public:
  explicit Way(std::size_t host) { Add(host); }
  void Add(std::size_t port) { ports_[count_++] = port; }
  const std::size_t* begin() const { return ports_.data(); }
  const std::size_t* end() const { return ports_.data() + count_; }
  bool crosses() const { return count_ > 1; }
  bool Has(std::size_t port) const;
  friend auto operator<=>(const Way&, const Way&) = default;

 private:
  std::array<std::size_t, 3> ports_ = {};
  std::size_t count_ = 0;
};

/// Bytes of each load on each of its ways.
using WayShares = std::vector<std::vector<std::int64_t>>;

struct RackProgram {
  std::vector<std::vector<Way>> ways;  // by load; each list ascending by hosts
  std::vector<std::int64_t> speeds;    // by port
  std::vector<std::int64_t> fixed;     // by port, bytes beside those of the loads
  PortTime floor;                      // no need to be done before
};
struct RackSolution {
  WayShares shares;
  std::vector<std::int64_t> prices;  // of a byte, by port, >= 0; none where the floor was reached
};
/// The best shares but for a byte a way, and the prices that prove it. `shares` say what the loads
/// are and where to start from.
/// \returns nullopt where the program is too large
std::optional<RackSolution> Solve(const RackProgram& program, const WayShares& shares);

}  // namespace tessera::ptc
