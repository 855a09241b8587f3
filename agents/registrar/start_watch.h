// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Tracks how far the ranks of a starting job have read their data, and finds the rank that stalls.

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agents/job/rank_protocol.h"
#include "agents/registrar/membership.h"
#include "ptc/mesh.h"

namespace tessera::agents {

/// "opening data: n1 37.5 % of 8.4 GiB", "opening data: n1 is finding its files, 3.2 GiB so far".
std::string OpeningText(std::int32_t node, const RankLoading& loading);

/// \threadsafety The loop's thread.
class StartWatch {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// The processes of `ranks` start at `now`.
  StartWatch(const std::vector<ptc::DeviceId>& ranks, Time now);

  /// Notes that `rank` made progress. Ranks that are not watched are ignored.
  void Note(ptc::DeviceId rank, const RankLoading& loading, Time now);
  /// The ranks of `node` are ready for their first step and are no longer watched.
  void NodeReady(std::int32_t node);

  /// OpeningText of the rank that has the largest part left to read, and the number of other nodes
  /// that are reading. Empty if no rank is reading.
  std::string Text() const;

  struct Late {
    ptc::DeviceId rank;
    std::string what;  // "made no progress with its data for 120 s: 37.5 % of 8.4 GiB"
  };
  /// The rank that makes the start fail, if any. A loading rank is late after `limit` without
  /// progress. The other ranks may wait for it, so they are late `limit` after the last progress of
  /// any rank.
  std::optional<Late> FindLate(Time now, std::chrono::seconds limit) const;

 private:
  struct Row {
    std::optional<RankLoading> loading;  // nullopt: no report yet
    Time last_progress;
    bool loads() const { return loading && !loading->is_over(); }
  };
  std::map<ptc::DeviceId, Row> rows_;  // by rank, of those that are not ready
  Time last_progress_;
};

/// "n1g0 on 'host' made no progress with its data for 120 s: 37.5 % of 8.4 GiB"
std::string LateText(const Membership& members, const StartWatch::Late& late);

}  // namespace tessera::agents
