// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Jobs that have lost devices: what is left, what can be done, and the transaction that continues
/// on other devices.

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agents/registrar/checkpoint_desk.h"
#include "agents/registrar/job_stops.h"
#include "agents/registrar/job_table.h"
#include "agents/registrar/pending_reply.h"
#include "agents/registrar/plan_desk.h"
#include "agents/registrar/registrar_part.h"
#include "agents/registrar/snapshot_desk.h"
#include "agents/registrar/step_recorder.h"
#include "agents/registrar/transaction_desk.h"

namespace tessera::agents {

class LossDesk : public RegistrarPart {
 public:
  /// Parts that it uses. All outlive it.
  struct Uses {
    PlanDesk& plans;
    SnapshotDesk& snapshots;
    CheckpointDesk& checkpoints;
    StepRecorder& steps;
    JobStops& stops;
    TransactionDesk& transactions;
  };
  struct World {
    /// A job may be able to go on now.
    std::function<void()> restart_jobs;
    /// The settings of its snapshots have changed.
    std::function<void(const Job& job)> consider_snapshot;
    /// What the snapshots of the job will cost, for a person.
    std::function<void(const Job& job, std::function<void(std::string text)> then)>
        forecast_snapshots;
  };
  LossDesk(const Common& common, JobTable& jobs, const Uses& uses, World world)
      : RegistrarPart(common), uses_(uses), jobs_(jobs), around_(std::move(world)) {}

  /// Looks on the worker for what can be done, unless that is known or looked for.
  void Note(Job& job, engine::ConsistentCut cut);
  /// Continues on other devices if that is decided.
  /// \pre job.device_loss; nothing else runs
  void Consider(Job& job);
  /// The transaction that continues the job is over.
  void OnRecovered(Job& job, const Txn& txn, bool committed, const std::string& reason);
  /// A user wants a job that lacks devices to load this checkpoint.
  /// \return what happens now
  Result<std::string> ChooseCheckpoint(Job& job, const std::string& path,
                                       const checkpoint::Manifest& manifest,
                                       const PendingReply& reply);
  /// A choice of a user, or the settings for losses.
  void OnDecision(const wire::DecisionRequest& request, const ReplyPtr& reply);

  /// "it can continue on 4 GPUs as dp=2,tp=2, without losing a step, or wait"
  static std::string TextOf(const DeviceLoss& loss);
  /// What the snapshot says of the loss; nullopt if the job has none.
  std::optional<engine::DecisionStatus> StatusOf(const Job& job) const;

 private:
  // Each returns one sentence on what holds from now on.
  Result<std::string> SetOnFailure(Job& job, std::uint32_t policy, const PendingReply& reply);
  Result<std::string> SetSnapshots(Job& job, const wire::SnapshotEvery& every,
                                   const PendingReply& reply);
  Result<std::string> Choose(Job& job, const wire::DecisionRequest& request,
                             const PendingReply& reply);
  /// Has Note() look for the way out again.
  void SearchAgain(DeviceLoss& loss);
  /// A snapshot that the job can return to, and the living nodes with shares of it.
  struct UsableSnapshot {
    const SnapshotRow* row = nullptr;
    std::set<std::int32_t> nodes;
  };
  std::optional<UsableSnapshot> FindSnapshot(const Job& job) const;
  wire::ViewReply SharesOf(const UsableSnapshot& snapshot) const;
  Remaining RemainingDevices(const Job& job) const;
  std::optional<UsableCheckpoint> FindCheckpoint(const Job& job) const;
  /// Examines the checkpoint that the job would load, and begins the recovery then.
  void LookAndBegin(Job& job);
  /// A return to the snapshot has failed: after the second time a checkpoint is tried first.
  void NoteSnapshotFailure(Job& job, const Txn& txn);
  /// The recovery could not begin.
  void NoteFailure(Job& job, const Error& why);
  /// A search for a way out has ended.
  void OnFound(const std::string& job, std::uint64_t search, WayOut found);
  /// \pre job.device_loss->can_continue(); `stored` is the checkpoint that it loads, if it does
  Status BeginRecovery(Job& job, std::optional<StoredState> stored);

  const Uses uses_;
  JobTable& jobs_;
  const World around_;
  std::uint64_t last_search_ = 0;
};

}  // namespace tessera::agents
