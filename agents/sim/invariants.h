// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What must hold in a simulated cluster.

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "agents/node/job_row.h"
#include "agents/sim/cluster_sim.h"
#include "agents/sim/memory_store.h"
#include "agents/sim/sim_faults.h"
#include "agents/sim/sim_node.h"
#include "agents/sim/sim_operator.h"
#include "agents/sim/sim_world.h"
#include "agents/sim/step_book.h"
#include "engine/history/history.h"
#include "engine/txn/decision.h"

namespace tessera::agents::sim {

/// Looks at disks, memory and messages, and tells SimWorld of the first violation.
class Invariants {
 public:
  struct World {
    SimWorld* sim = nullptr;
    std::function<SimNode&(std::int32_t number)> node;
    std::function<std::int32_t()> num_nodes;
    const MemoryStore* registrar_disk = nullptr;
    const MemoryStore* decision_rows = nullptr;  // of the register
    engine::History* history = nullptr;
    StepBook* steps = nullptr;
    SimFaults* faults = nullptr;
    SimOperator* person = nullptr;
    ClusterResult* result = nullptr;
  };
  explicit Invariants(World world) : world_(std::move(world)) {}

  /// A value is about to be written to an empty slot of the register.
  void OnDecided(const std::string& value);
  /// The registrar says something to a node.
  void OnToNode(const wire::ToNode& message);
  void OnPublished(const wire::Published& message);
  /// A node's agent kills a rank.
  void OnKill(const SimRank& rank);
  /// After each event.
  void CheckDevices();
  /// What does not hold of what must hold in the end; empty: nothing.
  std::string FindWrong() const;

 private:
  SimNode& At(std::int32_t n) const { return world_.node(n); }
  /// The job as its row in the registrar's journal has it.
  std::optional<JobTableRow> RowOf(const std::string& job) const;
  std::optional<std::string> Get(const std::string& key) const;
  void CheckOutcome(std::int64_t transaction, const std::string& value) const;
  /// The ranks of a job start on the state after this step.
  void NoteRestart(const wire::StartJob& start) const;
  std::string FindWrongSample(const std::string& job) const;
  /// The digests in the record of each commit are those of the state after its step.
  std::string FindWrongDigest(const std::string& job) const;

  const World world_;
  std::set<std::pair<std::uint64_t, std::int64_t>> commits_;  // hash of the job, epoch
  std::set<std::int64_t> given_up_, followed_;                // transactions
};

}  // namespace tessera::agents::sim
