// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Starts the ranks of a job on this node: on a new state, on the state that the arenas hold, or
/// only to make an update that is missing.

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "agents/move/device_store.h"
#include "agents/node/held_jobs.h"
#include "agents/node/job_pauses.h"
#include "agents/node/node_world.h"
#include "agents/node/rank_logs.h"
#include "agents/node/rank_starter.h"
#include "agents/node/rank_table.h"
#include "agents/node/step_reports.h"
#include "agents/node/uplink.h"
#include "agents/wire/messages_fwd.h"
#include "ptc/base/result.h"

namespace tessera::agents {

/// The registrar repeats its messages. A repeated one is answered again and starts nothing.
/// \threadsafety The loop's thread.
class JobStarts {
 public:
  /// All parts outlive this one.
  struct World {
    const NodeWorld& machine;
    DeviceStore& devices;
    RankTable& ranks;
    HeldJobs& jobs;
    RankStarter& starter;
    JobPauses& pauses;
    StepReports& steps;
    RankLogs& logs;
    const Uplink& uplink;
    /// Kills the ranks of the job and frees what this node holds of it.
    std::function<void(const std::string& job)> drop;
    std::function<void()> send_heartbeat;
  };

  explicit JobStarts(World world) : world_(std::move(world)) {}

  /// Answers with JobReady if the start failed. Otherwise the pauses of the started ranks lead to
  /// that answer.
  void OnStartJob(const wire::StartJob& message);
  /// Starts processes that make an update which was decided but not made, on the devices that need
  /// it.
  void OnFinishUpdate(const wire::FinishUpdate& message);
  /// The number of the last FinishUpdate; 0: none.
  std::uint64_t last_order() const { return last_order_; }

 private:
  Status Start(const wire::StartJob& message);
  /// Starts the ranks on a new state.
  /// \error naming the device that has failed or is in a job; those of layout, settings and journal
  Status StartNew(const wire::StartJob& message);
  /// Starts the ranks on the state that the arenas hold.
  /// \error as CheckHeldState and RankStarter::Start
  Status StartAgain(const wire::StartJob& message);
  /// Starts all ranks of the layout that are on this node.
  Status StartRanks(const Launch& launch);

  const World world_;
  std::uint64_t last_order_ = 0;
};

}  // namespace tessera::agents
