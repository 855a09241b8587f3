// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The groups that the rank library makes for a job that brings none: one of all ranks and one
/// along each axis of the mesh, in shared memory where all members are on one host, over TCP
/// elsewhere.

#include <array>
#include <map>
#include <memory>
#include <mutex>

#include "agents/job/rank_protocol.h"
#include "agents/job/tessera_job.h"
#include "agents/train/comm/collective.h"
#include "agents/train/comm/rendezvous.h"
#include "ptc/mesh.h"

namespace tessera::agents {

/// Groups of one attempt.
struct RankGroups {
  train::CollectivePtr world;
  /// Of the ranks that differ from this one in their coordinate on the axis only.
  std::array<train::CollectivePtr, ptc::kNumAxes> along;

  /// Blocks until all ranks have come.
  /// \error what MakeShmGroup, MakeTcpGroup and the rendezvous return
  static Result<RankGroups> Connect(const tessera_view& view,
                                    std::shared_ptr<train::Rendezvous> rendezvous);
};

/// The groups in use and those of coming epochs.
/// \threadsafety Any thread.
class RankGroupsByAttempt {
 public:
  void Put(Attempt attempt, RankGroups groups);
  /// nullptr: there are none. Stays valid when others are dropped.
  std::shared_ptr<const RankGroups> Get(Attempt attempt) const;
  /// Drops those of other attempts at this epoch and of earlier epochs.
  void KeepFrom(Attempt attempt);

 private:
  mutable std::mutex mutex_;
  std::map<Attempt, std::shared_ptr<const RankGroups>> groups_;
};

}  // namespace tessera::agents
