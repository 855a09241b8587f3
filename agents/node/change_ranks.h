// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The ranks of a node in one transaction, apart from its commit: groups are built before it, and
/// ranks are released or ended after it.

#include "agents/node/held_jobs.h"
#include "agents/node/node_links.h"
#include "agents/node/prepared_change.h"
#include "agents/node/rank_starter.h"
#include "agents/node/rank_table.h"
#include "ptc/base/result.h"

namespace tessera::agents {

/// \threadsafety The loop's thread.
class ChangeRanks {
 public:
  /// \pre all outlive this part
  ChangeRanks(const PreparedChange& change, RankTable& ranks, HeldJobs& jobs, RankStarter& starter,
              const NodeLinks& links)
      : change_(change), ranks_(ranks), jobs_(jobs), starter_(starter), links_(links) {}

  /// Whether a rank of the new layout that the keeper still runs has not attached: the agent has
  /// just returned, and its ranks come one after the other.
  bool AreAttaching() const;
  /// Starts joining ranks, and makes the other ranks build the groups of the new epoch.
  /// \error of the first rank that cannot; ranks before it have been started
  Status Connect();
  /// Whether all ranks of the new layout on this node have reported their groups.
  bool AreConnected() const;
  /// Drops the groups and kills the joining ranks.
  void Abandon();
  /// Whether a joining rank still runs.
  bool HasJoiners() const;
  /// Lets the ranks that have adopted the new layout train, or wait with `stay_paused`. The other
  /// ranks leave. Removes the job if no device of this node is in the new layout.
  void Release(bool stay_paused);

 private:
  const PreparedChange& change_;
  RankTable& ranks_;
  HeldJobs& jobs_;
  RankStarter& starter_;
  const NodeLinks& links_;
};

}  // namespace tessera::agents
