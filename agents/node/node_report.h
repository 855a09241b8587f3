// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The state of a node, as it registers with the registrar and reports it in heartbeats.

#include <cstdint>
#include <string>
#include <vector>

#include "agents/move/device_store.h"
#include "agents/node/config.h"
#include "agents/node/held_jobs.h"
#include "agents/node/job_pauses.h"
#include "agents/node/kept_rows.h"
#include "agents/node/node_links.h"
#include "agents/node/node_transactions.h"
#include "agents/node/node_world.h"
#include "agents/node/rank_table.h"
#include "agents/wire/messages_fwd.h"

namespace tessera::agents {

/// \threadsafety The loop's thread.
class NodeReport {
 public:
  /// All outlive the report.
  struct World {
    const AgentConfig& config;
    const NodeWorld& machine;
    const NodeLinks& links;
    const DeviceStore& devices;
    const RankTable& ranks;
    const HeldJobs& jobs;
    const JobPauses& pauses;
    const NodeTransactions& transactions;
    const KeptRows& kept_rows;
  };

  explicit NodeReport(const World& world) : world_(world) {}

  /// `lanes`: the endpoints at which other nodes fetch cells.
  void FillRegister(const std::vector<std::string>& lanes, wire::Register* out) const;
  /// `last_order`: the number of the last FinishUpdate.
  void FillHeartbeat(std::uint64_t last_order, wire::Heartbeat* out) const;

 private:
  void FillDevices(google::protobuf::RepeatedPtrField<wire::NodeDevice>* out) const;
  void FillJobs(google::protobuf::RepeatedPtrField<wire::NodeJob>* out) const;

  const World world_;
};

}  // namespace tessera::agents
