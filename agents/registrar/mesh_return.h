// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Returns a job to its earlier mesh if its ranks fail on the new one before their first step.

#include <cstdint>
#include <functional>
#include <optional>

#include "agents/registrar/job_table.h"
#include "agents/registrar/plan_desk.h"
#include "agents/registrar/registrar_part.h"
#include "agents/registrar/step_recorder.h"
#include "agents/registrar/transaction_desk.h"
#include "engine/recovery/consistent_cut.h"

namespace tessera::agents {

/// The return is a change like one that a user applies to a suspended job. The mesh that such a
/// change leaves is no earlier mesh, so a job never returns twice in a row.
class MeshReturn : public RegistrarPart {
 public:
  /// Parts that it uses. All outlive it.
  struct Uses {
    PlanDesk& plans;
    StepRecorder& steps;
    TransactionDesk& transactions;
  };
  struct World {
    /// As those of TransactionDesk::World.
    std::function<Status()> check_free;
    std::function<std::optional<std::int64_t>(const Job& job)> rests_at;
  };
  MeshReturn(const Common& common, JobTable& jobs, const Uses& uses, World world)
      : RegistrarPart(common), uses_(uses), jobs_(jobs), around_(std::move(world)) {}

  /// Begins the return if the job has made no step since its last change. If the return is
  /// impossible, the job stays suspended and its reason says why.
  /// \pre the job is suspended, its ranks are not started again, and nothing of `cut` is lost
  void Consider(Job& job, const engine::ConsistentCut& cut);

 private:
  void Plan(Job& job);
  /// The cluster may have changed while the plan was made.
  void OnPlanned(Job& job, Result<Planned> planned);
  Status Begin(Job& job, Planned planned, std::int64_t step);
  void Stay(Job& job, const Error& why);

  const Uses uses_;
  JobTable& jobs_;
  const World around_;
};

}  // namespace tessera::agents
