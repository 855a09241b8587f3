// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What attached ranks report, and which part of the agent acts on it.

#include <cstdint>
#include <set>

#include "agents/job/rank_links.h"
#include "agents/move/device_store.h"
#include "agents/node/held_jobs.h"
#include "agents/node/job_pauses.h"
#include "agents/node/node_links.h"
#include "agents/node/node_transactions.h"
#include "agents/node/node_world.h"
#include "agents/node/rank_table.h"
#include "agents/node/rendezvous_relay.h"
#include "agents/node/step_reports.h"
#include "agents/node/uplink.h"

namespace tessera::agents {

/// A report about a job that a transaction changes goes to the transaction.
/// \threadsafety The loop's thread.
class RankEvents {
 public:
  /// All outlive this part.
  struct World {
    const NodeWorld& machine;
    const NodeLinks& links;
    const DeviceStore& devices;
    RankTable& ranks;
    const HeldJobs& jobs;
    JobPauses& pauses;
    StepReports& steps;
    NodeTransactions& transactions;
    RendezvousRelay& rendezvous;
    const Uplink& uplink;
  };

  explicit RankEvents(const World& world) : world_(world) {}

  RankLinks::Handlers handlers();
  /// Makes the ranks leave that have left their job. An earlier agent may have died before it could
  /// send them the command.
  void RetireLeft();

 private:
  bool Expects(const RankId& id, std::int64_t pid);
  void OnAttached(const RankId& id);
  void OnConnected(const RankId& id, const Attempt& reached, const Status& status);
  void OnLoading(const RankId& id, const RankLoading& loading);
  void OnPaused(const RankId& id, RankTable::Pause pause);
  void OnDecided(const RankId& id, const RankDecision& decision);
  void OnAdopted(const RankId& id, std::int64_t epoch);
  /// Whether the device of the rank no longer holds its job. A transaction looks after the ranks of
  /// its job itself.
  bool HasLeft(const RankId& id) const;

  const World world_;
  std::set<std::int64_t> strangers_;  // pids that were refused, each reported once
};

}  // namespace tessera::agents
