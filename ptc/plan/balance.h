// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Who of several sends how much, so that the last port is done as early as can be.
///
/// Longest-processing-time-first list scheduling (Graham 1969) with the least flexible loads first
/// gives a start in which loads are hardly divided. Where a port is later than it must be, bytes
/// are passed on along augmenting paths (loads and ports, Dinic 1970) until the least time is
/// reached; the least time rises from a lower bound by the ports that are cut off (Dinkelbach
/// 1967), so it is exact.

#include <cstdint>
#include <vector>

namespace tessera::ptc {

/// Bytes that may only be divided at multiples of `grain`.
struct Unit {
  std::int64_t bytes = 0;
  std::int64_t grain = 1;
};
/// Units that any of some ports may serve.
struct Load {
  std::vector<int> ports;  // ascending, each once, not empty
  std::vector<Unit> units;
};
/// A part of a unit, given to a port. The pieces of a unit follow each other.
struct Share {
  int unit = 0;
  int port = 0;
  std::int64_t bytes = 0;
};
/// A time: bytes over speed. Speeds are whole numbers.
struct PortTime {
  std::int64_t bytes = 0;
  std::int64_t speed = 1;
  friend bool operator<(const PortTime& a, const PortTime& b);
};
/// Bytes that fit through a port of `speed` in `time`, rounded up; at most 2^62, more than all
/// bytes there are. \pre time.speed > 0
std::int64_t BytesThrough(PortTime time, std::int64_t speed);

/// Pieces of each load, in the order of its units; a load is cut at most once for each of its
/// ports. `done` has the bytes that each port has already been given and gains what it is given
/// now. No need to be done before `floor`.
/// \pre speeds > 0; loads in a fixed order, equal on every machine
std::vector<std::vector<Share>> Divide(const std::vector<Load>& loads,
                                       const std::vector<std::int64_t>& speeds, PortTime floor,
                                       std::vector<std::int64_t>& done);

/// Cuts the units of a load, end to end, at the shares of its ports. What is less than a grain goes
/// to the next port, and from one of `done` to the other. \pre the shares sum to the units
std::vector<Share> CutUnits(const Load& load, std::vector<std::int64_t> shares,
                            std::vector<std::int64_t>& done);

}  // namespace tessera::ptc
