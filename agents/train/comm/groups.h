// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The groups of one rank in one epoch.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "agents/job/tessera_job.h"
#include "agents/train/comm/collective.h"
#include "agents/train/comm/rendezvous.h"
#include "agents/train/comm/timed_group.h"

namespace tessera::agents::train {

/// The groups of a rank. Groups with the same members are one object.
struct Groups {
  std::int64_t epoch = 0;
  std::int64_t attempt = 0;
  CollectivePtr world;                 // all ranks: the step decision
  CollectivePtr dp;                    // the ranks with the same pieces: gradients
  CollectivePtr tp;                    // the ranks that share one stage: sums of activations
  CollectivePtr pp;                    // the stages of one replica, in order: messages
  std::shared_ptr<Patience> patience;  // of all of them; nullptr: fixed
  std::shared_ptr<WaitClock> waits = std::make_shared<WaitClock>();  // in all of them

  void Abort();
};

/// Returns the groups of a job with one rank.
Groups SelfGroups();

/// Returns the groups of the rank of `view` without its other ranks, in which every collective
/// fails: enough for an update.
/// \error kInvalidArgument if the rank is not in the mesh of `view`
Result<Groups> LoneGroups(const tessera_view& view);

/// Builds the groups of `view`: shared memory where all members are on one host, else TCP. Blocks
/// until all members have joined. `fingerprint` is that of the rank's data set, equal on all ranks.
/// `message_floats` is the size of a message between stages (see GroupOptions), needed for pp above
/// 1. `timeout` limits each wait of the connection; `patience`, if given, those of collectives.
/// \error kInvalidArgument if the view's mesh has other axes than pp, dp and tp above 1, or stages
///     without message_floats
/// \error kFailedPrecondition naming a rank whose fingerprint differs
/// \error what MakeShmGroup, MakeTcpGroup and the rendezvous return
Result<Groups> ConnectGroups(const tessera_view& view, std::shared_ptr<Rendezvous> rendezvous,
                             std::uint64_t fingerprint, std::chrono::milliseconds timeout,
                             std::size_t message_floats = 0,
                             std::shared_ptr<Patience> patience = {});

}  // namespace tessera::agents::train
