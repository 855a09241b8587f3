// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The shortest time in which ports can carry loads, if each load may be divided among several
/// ports.

#include <cstdint>
#include <map>
#include <vector>

namespace tessera::ptc {

/// Ports with speeds, and loads that may be divided in any way among the ports listed for each.
///
/// The least time is the maximum over sets S of ports of (bytes of loads whose ports are all in S)
/// / (sum of the speeds of S), by max-flow and min-cut from loads to ports. Dinkelbach's method
/// finds it: a time that is too short leaves a cut, the cut is a set S with a longer time, and the
/// last S is the proof. Ports with the same loads and equal speed count as one port with the sum of
/// their speeds; they can share evenly, so the optimum stays exact. All arithmetic is on integers.
class PortTimes {
 public:
  /// Speeds in bytes per second; fractions are rounded.
  explicit PortTimes(const std::vector<double>& speeds);

  /// \pre `ports` is not empty, ascending, each once; bytes >= 0
  void Add(const std::vector<int>& ports, std::int64_t bytes);
  void Add(int port, std::int64_t bytes);

  /// A set of ports that cannot finish earlier.
  struct Bound {
    double seconds = 0;
    std::int64_t bytes = 0;  // the time as bytes through `port`, rounded up
    int port = -1;           // the first of the set; -1: there are no loads
    int num_ports = 0;
  };
  /// The shortest time. If several sets need it, the result is the same set on every machine.
  Bound Least() const;

 private:
  /// Ports of equal speed that are listed for the same loads.
  struct Group {
    std::int64_t speed = 0;  // of all of them
    std::int64_t fixed = 0;  // bytes that only one of them can serve
    int first = 0;
    int count = 0;
    std::vector<std::size_t> shared;  // indices into the list of shared loads
  };
  std::vector<Group> MakeGroups() const;

  double unit_ = 1;                   // speeds are multiples of it
  std::vector<std::int64_t> speeds_;  // in units
  std::vector<std::int64_t> fixed_;   // by port
  std::map<std::vector<int>, std::int64_t> shared_;
};

/// The sum, or the largest int64 if it overflows. Sizes come from files, so they may be large.
std::int64_t SaturatingAdd(std::int64_t a, std::int64_t b);
/// \pre a, b >= 0
std::int64_t SaturatingMultiply(std::int64_t a, std::int64_t b);

}  // namespace tessera::ptc
