// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Divides loads among ports so that the last port finishes as early as possible. Exact.
///
/// The start is longest-processing-time-first list scheduling (Graham 1969) with the least flexible
/// loads first, which divides few loads. Bytes of a port that is too late are then moved along
/// augmenting paths (of loads and ports, Dinic 1970) until the target time is reached. The target
/// starts at a lower bound. If no path is left, the ports that were reached form a cut, which
/// proves a longer time and gives the next target (Dinkelbach 1967).

#include <cstdint>
#include <vector>

namespace tessera::ptc {

/// Bytes that may be divided only at multiples of `grain`.
struct Unit {
  std::int64_t bytes = 0;
  std::int64_t grain = 1;
};
/// Units that any of the listed ports may serve.
struct Load {
  std::vector<int> ports;  // ascending, each once, not empty
  std::vector<Unit> units;
};
/// A part of a unit that one port serves. The shares of a unit are consecutive.
struct Share {
  int unit = 0;
  int port = 0;
  std::int64_t bytes = 0;
};
/// A time as bytes divided by speed. Speeds are whole numbers.
struct PortTime {
  std::int64_t bytes = 0;
  std::int64_t speed = 1;
  friend bool operator<(const PortTime& a, const PortTime& b);
};
/// The bytes that a port of `speed` can serve in `time`, rounded up; at most 2^62, which is more
/// than any sum of loads.
/// \pre time.speed > 0
std::int64_t BytesThrough(PortTime time, std::int64_t speed);

/// Returns the shares of each load, in the order of its units. A load is cut at most once per port.
/// `done` holds the bytes that each port already serves; the new ones are added. Times below
/// `floor` are not worth a search.
/// \pre speeds > 0; the order of loads is the same on every machine
std::vector<std::vector<Share>> Divide(const std::vector<Load>& loads,
                                       const std::vector<std::int64_t>& speeds, PortTime floor,
                                       std::vector<std::int64_t>& done);

/// Cuts the units of a load, laid end to end, at the shares of its ports. A cut inside a grain
/// moves the rest of that grain to the next port, and corrects `done`.
/// \pre the shares sum to the units
std::vector<Share> CutUnits(const Load& load, std::vector<std::int64_t> shares,
                            std::vector<std::int64_t>& done);

}  // namespace tessera::ptc
