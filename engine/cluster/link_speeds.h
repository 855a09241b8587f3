// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Measured bandwidths of the links of a cluster, and their use in plans.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ptc/base/result.h"
#include "ptc/topology/topology.h"

namespace tessera::engine {

/// How transfers use a link.
struct LaneUse {
  int lanes = 0;                 // connections at the same time; 0: not known
  std::int64_t frame_bytes = 0;  // requested at a time; 0: not known
  friend bool operator==(const LaneUse&, const LaneUse&) = default;
};

/// The measurements of one link.
struct LinkSpeed {
  std::int32_t from = 0, to = 0;              // nodes; equal: a memory copy inside the node
  std::vector<double> bytes_per_second = {};  // of each run, in order; at least one
  LaneUse use = {};                           // with which it was fastest; none: a memory copy
  /// For an even number of runs, the lower of the two in the middle.
  double median() const;
  bool is_memory() const { return from == to; }
  friend bool operator==(const LinkSpeed&, const LinkSpeed&) = default;
};

/// One measurement of a cluster. Figures are valid while the marks of both nodes are unchanged.
struct LinkSpeeds {
  double measured_at = 0;                          // wall clock, seconds since 1970; 0: never
  double seconds = 0;                              // duration of the measurement
  std::int64_t bytes = 0;                          // sent over the network
  std::map<std::int32_t, std::string> marks = {};  // by node: machine, address, emulated limit
  std::vector<LinkSpeed> links = {};               // by (from, to), ascending

  bool empty() const { return links.empty(); }
  /// How transfers use the links of the cluster: lower medians of the links between nodes. Not
  /// known if none is measured.
  LaneUse use() const;
  /// Removes the mark of `node` and every link from or to it.
  void Forget(std::int32_t node);
  friend bool operator==(const LinkSpeeds&, const LinkSpeeds&) = default;
};

/// A port that differs from the usual bandwidth by a smaller fraction counts as usual, so that
/// noise does not unbalance plans.
inline constexpr double kEqualPorts = 0.25;

/// Sets the bandwidths of a topology from measurements:
/// - memory is the median of the hosts, the network the median of the hosts' ports;
/// - a port is as fast as the fastest link measured through it. One that differs by kEqualPorts or
///   more becomes an exception;
/// - a host without measurements is usual, and a kind of link without measurements keeps its value;
/// - figures of hosts without any of `nodes` are ignored.
///
/// The topology's `source` names the time and the measured nodes.
void UseMeasured(const LinkSpeeds& speeds, const std::set<std::int32_t>& nodes,
                 ptc::Topology* topology);

/// One line of JSON with all keys.
std::string ToJson(const LinkSpeeds& speeds);
/// Parses what ToJson returns.
/// \error kInvalidArgument naming a key that is unknown, missing or out of range, a link that
///     appears twice, or a link of a node without a mark
Result<LinkSpeeds> ParseLinkSpeeds(std::string_view json);

}  // namespace tessera::engine
