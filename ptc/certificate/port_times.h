// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// How long ports take at least when each load may be divided among several of them.

#include <cstdint>
#include <map>
#include <vector>

namespace tessera::ptc {

/// Ports of given speeds and loads, each of which any of its ports may serve, in any division.
///
/// The least time is the maximum over sets S of ports of (bytes of loads whose ports all lie in S)
/// / (sum of the speeds of S): max-flow and min-cut, loads -> ports. It is found by Dinkelbach's
/// method: a time that is too short leaves a cut, the cut is a set S with a longer one; the last S
/// is the proof. Ports of the same loads and equal speed count as one, with their speeds added up:
/// they may share evenly, so the optimum stays exact. All arithmetic is on integers.
class PortTimes {
 public:
  /// Speeds in bytes a second, rounded to whole ones.
  explicit PortTimes(const std::vector<double>& speeds);

  /// \pre `ports` is not empty, ascending, each once; bytes >= 0
  void Add(const std::vector<int>& ports, std::int64_t bytes);
  void Add(int port, std::int64_t bytes);

  /// A set of ports that cannot be done earlier.
  struct Bound {
    double seconds = 0;
    std::int64_t bytes = 0;  // at least so many through `port`, rounded up
    int port = -1;           // the first of the set, -1: there are no loads
    int num_ports = 0;
  };
  /// The least time, attained where loads may be divided at will; among sets that take equally
  /// long, the one that is found is the same on every machine.
  Bound Least() const;

 private:
  /// Ports that are in the same loads and equally fast.
  struct Group {
    std::int64_t speed = 0;  // of all of them
    std::int64_t fixed = 0;  // bytes that only one of them can serve
    int first = 0;
    int count = 0;
    std::vector<std::size_t> shared;  // positions in the list of shared loads
  };
  std::vector<Group> MakeGroups() const;

  double unit_ = 1;                   // speeds are multiples of it
  std::vector<std::int64_t> speeds_;  // in units
  std::vector<std::int64_t> fixed_;   // by port
  std::map<std::vector<int>, std::int64_t> shared_;
};

/// Sums stop at the largest number instead of overflowing: the sizes come from files.
std::int64_t SaturatingAdd(std::int64_t a, std::int64_t b);
/// \pre a, b >= 0
std::int64_t SaturatingMultiply(std::int64_t a, std::int64_t b);

}  // namespace tessera::ptc
