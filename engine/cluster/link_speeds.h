// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What the links of a live cluster were measured to carry, and how plans use it.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ptc/base/result.h"
#include "ptc/topology/topology.h"

namespace tessera::engine {

/// One link, several times in a row.
struct LinkSpeed {
  std::int32_t from = 0, to = 0;              // nodes; equal: between two memories of that node
  std::vector<double> bytes_per_second = {};  // of each run, in order; at least one
  /// Of an even number of runs the lower of the two in the middle.
  double median() const;
  bool is_memory() const { return from == to; }
  friend bool operator==(const LinkSpeed&, const LinkSpeed&) = default;
};

/// One measurement of a cluster. A figure is for a node as it was then: its mark says what it was.
struct LinkSpeeds {
  double measured_at = 0;                          // wall clock, seconds since 1970; 0: never
  double seconds = 0;                              // that it took
  std::int64_t bytes = 0;                          // that it sent over the network
  std::map<std::int32_t, std::string> marks = {};  // by node: machine, address, emulated limit
  std::vector<LinkSpeed> links = {};               // by (from, to), ascending

  bool empty() const { return links.empty(); }
  /// Drops every figure that `node` has a part in, and its mark.
  void Forget(std::int32_t node);
  friend bool operator==(const LinkSpeeds&, const LinkSpeeds&) = default;
};

/// Ports that differ by less than this part from the usual one count as the usual one: noise must
/// not make plans lopsided.
inline constexpr double kEqualPorts = 0.25;

/// Puts the figures into a topology: memory is the median of the hosts, the network the median of
/// the hosts' ports, and a port that is off by kEqualPorts or more an exception of its own. A port
/// is as fast as the fastest link that was measured through it. Hosts that were not measured count
/// as usual ones; kinds of links that were not measured keep their figure. `source` says when, and
/// on which of `nodes`. Figures of hosts without any of `nodes` do not count.
void UseMeasured(const LinkSpeeds& speeds, const std::set<std::int32_t>& nodes,
                 ptc::Topology* topology);

/// JSON, one line, all keys.
std::string ToJson(const LinkSpeeds& speeds);
/// \error kInvalidArgument naming the key that is unknown, missing or outside its limits, a link
///     that is given twice, or of a node without a mark
Result<LinkSpeeds> ParseLinkSpeeds(std::string_view json);

}  // namespace tessera::engine
