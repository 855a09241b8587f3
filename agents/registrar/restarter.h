// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Jobs whose ranks have ended while their state is in the arenas: they are suspended, and their
/// ranks are started again on that state.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "agents/registrar/crash_guard.h"
#include "agents/registrar/job_stops.h"
#include "agents/registrar/job_table.h"
#include "agents/registrar/loss_desk.h"
#include "agents/registrar/mesh_return.h"
#include "agents/registrar/pause_desk.h"
#include "agents/registrar/pending_reply.h"
#include "agents/registrar/registrar_part.h"
#include "agents/registrar/start_sender.h"
#include "agents/registrar/step_recorder.h"
#include "agents/registrar/transaction_numbers.h"
#include "engine/recovery/consistent_cut.h"

namespace tessera::agents {

class Restarter : public RegistrarPart {
 public:
  /// Parts that it uses. All outlive it.
  struct Uses {
    TransactionNumbers& numbers;
    StepRecorder& steps;
    StartSender& sender;
    JobStops& stops;
    PauseDesk& pauses;
    LossDesk& losses;
    MeshReturn& returns;
  };
  struct World {
    /// \error naming what must end before
    std::function<Status()> check_idle;
    /// 0: none runs.
    std::function<std::int64_t()> running_transaction;
    /// The job has been suspended.
    std::function<void(const std::string& job, const Error& why)> suspended;
  };
  Restarter(const Common& common, JobTable& jobs, const Uses& uses, World world)
      : RegistrarPart(common), uses_(uses), jobs_(jobs), around_(std::move(world)) {}

  /// Suspends a job whose ranks cannot go on. After a refusal they start again by OnResume only.
  void Suspend(Job& job, const std::string& reason, RankEnd end);
  /// Starts suspended jobs again where nothing stands in the way.
  void RestartJobs();
  /// The same after all messages that have arrived: many nodes may report at once.
  void RestartJobsSoon();
  /// A user wants a suspended job to go on.
  void OnResume(Job& job, const ReplyPtr& reply);
  /// All its ranks are there again.
  void OnRestarted(Job& job);
  /// The step after which the whole state of a suspended job is in memory; nullopt if a part is
  /// lost or not at that step, or if ranks may still write. The next step may be decided, if no
  /// rank has made its update.
  std::optional<std::int64_t> RestsAt(const Job& job) const;

 private:
  /// A rank of a suspended job has refused. The other ranks may have reported earlier that their
  /// collective broke.
  void NoteRefusal(Job& job, const std::string& reason);
  /// `makes_updates`: where no device has made an update that is decided, they still can.
  engine::ConsistentCut CutOf(const Job& job, bool makes_updates = true) const;
  /// Lets the devices that are one step behind make their update. A recovery reads devices before
  /// it starts ranks.
  void FinishUpdates(Job& job, const engine::ConsistentCut& cut);
  /// \pre nothing of `cut` is lost
  Status Restart(Job& job, const engine::ConsistentCut& cut);
  wire::ToNode MessageOf(const Job& job, const engine::ConsistentCut& cut) const;

  const Uses uses_;
  JobTable& jobs_;
  const World around_;
  std::uint64_t last_order_ = 0;  // that was sent
  bool is_posted_ = false;        // RestartJobsSoon
};

}  // namespace tessera::agents
