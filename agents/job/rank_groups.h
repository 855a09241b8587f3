// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The groups of the rank library, for jobs that pass no connect callback: one of all ranks and one
/// along each axis of the mesh. They use shared memory if all members are on one host, else TCP.

#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>

#include "agents/job/rank_protocol.h"
#include "agents/job/tessera_job.h"
#include "agents/train/comm/collective.h"
#include "agents/train/comm/rendezvous.h"
#include "agents/train/comm/timed_group.h"
#include "ptc/mesh.h"

namespace tessera::agents {

/// The groups of one attempt.
struct RankGroups {
  train::CollectivePtr world;
  /// By axis: the ranks that differ from this one only in their coordinate on the axis.
  std::array<train::CollectivePtr, ptc::kNumAxes> along;
  std::shared_ptr<train::Patience> patience;  // of all of them
  std::shared_ptr<train::WaitClock> waits;    // in all of them

  /// Blocks until all ranks have connected. `collective_timeout` is that of the job's settings.
  /// \error as MakeShmGroup, MakeTcpGroup and the rendezvous
  static Result<RankGroups> Connect(const tessera_view& view,
                                    std::shared_ptr<train::Rendezvous> rendezvous,
                                    std::chrono::seconds collective_timeout);
};

/// The groups in use and those of coming epochs.
/// \threadsafety Any thread.
class RankGroupsByAttempt {
 public:
  void Put(Attempt attempt, RankGroups groups);
  /// The groups of `attempt`, or nullptr. They stay valid when others are dropped.
  std::shared_ptr<const RankGroups> Get(Attempt attempt) const;
  /// Drops the groups of other attempts at this epoch and of earlier epochs.
  void KeepFrom(Attempt attempt);

 private:
  mutable std::mutex mutex_;
  std::map<Attempt, std::shared_ptr<const RankGroups>> groups_;
};

}  // namespace tessera::agents
