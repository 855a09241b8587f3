// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Ends the ranks of a job.

#include <chrono>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>

#include "agents/move/device_store.h"
#include "agents/net/timers.h"
#include "agents/node/node_links.h"
#include "agents/node/rank_table.h"

namespace tessera::agents {

/// \threadsafety The loop's thread.
class RankEnds {
 public:
  /// Ranks may begin an update within this time, and have the same time again to complete it.
  static constexpr std::chrono::seconds kForUpdate{2};

  /// `send_heartbeat` runs when the ranks of a job have been killed: the registrar waits for that
  /// before it starts a suspended job again.
  /// \pre all outlive this part
  RankEnds(Timers& timers, DeviceStore& devices, RankTable& ranks, const NodeLinks& links,
           std::function<void()> send_heartbeat)
      : timers_(timers),
        devices_(devices),
        ranks_(ranks),
        links_(links),
        send_heartbeat_(std::move(send_heartbeat)) {}

  /// Ends the ranks that the job has now, outside of updates. The state in the arenas stays.
  void End(const std::string& job);
  /// Kills all ranks of the job at once.
  void Kill(const std::string& job);

 private:
  /// `pids`: the job may start again before the last of them has ended.
  void EndThese(const std::string& job, std::set<std::int64_t> pids,
                Timers::Clock::time_point deadline);

  Timers& timers_;
  DeviceStore& devices_;
  RankTable& ranks_;
  const NodeLinks& links_;
  const std::function<void()> send_heartbeat_;
};

}  // namespace tessera::agents
