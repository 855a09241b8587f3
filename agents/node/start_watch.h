// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// How far the ranks of a starting job are with their data, and which of them has stood too long.

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agents/job/rank_protocol.h"
#include "ptc/mesh.h"

namespace tessera::agents {

/// "opening data: n1 37.5 % of 8.4 GiB", "opening data: n1 finds its files, 3.2 GiB so far".
std::string OpeningText(std::int32_t node, const RankLoading& loading);

/// \threadsafety The loop's thread.
class StartWatch {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// Processes of these ranks are started `now`.
  StartWatch(const std::vector<ptc::DeviceId>& ranks, Time now);

  /// Each time a rank says it, it has come further. Other ranks' words are ignored.
  void Note(ptc::DeviceId rank, const RankLoading& loading, Time now);
  /// The node's ranks wait for their first step.
  void NodeReady(std::int32_t node);

  /// OpeningText of the rank that has the largest part before it, with a word on how many other
  /// nodes load; empty where no rank says that it does.
  std::string Text() const;

  struct Late {
    ptc::DeviceId rank;
    std::string what;  // "made no progress with its data for 120 s: 37.5 % of 8.4 GiB"
  };
  /// The rank because of which the start is to be given up. One that loads may be silent for
  /// `limit`; the others, which may wait for it, for so long after the last word of any.
  std::optional<Late> FindLate(Time now, std::chrono::seconds limit) const;

 private:
  struct Row {
    std::optional<RankLoading> loading;  // nullopt: it said nothing yet
    Time last_progress;
    bool loads() const { return loading && !loading->is_over(); }
  };
  std::map<ptc::DeviceId, Row> rows_;  // of ranks that are not ready
  Time last_progress_;
};

}  // namespace tessera::agents
