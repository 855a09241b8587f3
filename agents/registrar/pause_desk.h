// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Pauses and resumes jobs, and computes their digests at step boundaries.

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agents/move/cell_digests.h"
#include "agents/registrar/job_table.h"
#include "agents/registrar/pending_reply.h"
#include "agents/registrar/registrar_part.h"
#include "agents/registrar/transaction_numbers.h"

namespace tessera::agents {

class PauseDesk : public RegistrarPart {
 public:
  struct World {
    /// \error naming what must end before
    std::function<Status()> check_idle;
    /// Whether a transaction of the job runs.
    std::function<bool(const Job& job)> is_changing;
    /// As Restarter::RestsAt.
    std::function<std::optional<std::int64_t>(const Job& job)> rests_at;
  };
  PauseDesk(const Common& common, JobTable& jobs, TransactionNumbers& numbers, World world)
      : RegistrarPart(common), jobs_(jobs), numbers_(numbers), around_(std::move(world)) {}

  enum class Kind { kPause, kDigest };
  /// Pauses the job, or computes its digest.
  void Begin(Kind kind, Job& job, const ReplyPtr& reply);
  /// \error kFailedPrecondition while a job is being paused or digested
  Status CheckIdle() const;
  /// Whether the job is being paused or digested.
  bool IsFor(const Job& job) const { return operation_ && operation_->job == job.name; }
  void FailFor(const Job& job, const Error& error);
  void OnNodeSilent(std::int32_t node, const Error& error);
  /// Fails what takes too long.
  void Tick(Clock::time_point now);

  void OnJobPaused(std::int32_t node, const wire::JobPaused& message);
  void OnDigests(std::int32_t node, const wire::DigestsReport& message);
  /// Acts on what a node says of its ranks of the job, unless the job is suspended.
  void OnNodeJob(std::int32_t node, Job& job, const wire::NodeJob& row);
  /// Marks a running job as paused if all its nodes have stopped by themselves, at the same step.
  void MarkPausedIfAllStopped(Job& job);
  /// Notes whether the job has ended or lacks data, now that all of its ranks wait.
  static void NoteEnd(Job& job);
  void Resume(Job& job);
  void SendResume(const Job& job, std::int32_t node);

 private:
  struct Operation {
    Kind kind = Kind::kPause;
    std::string job;
    std::uint64_t number = 0;
    bool was_paused = false;
    std::int64_t step = 0;
    std::set<std::int32_t> waiting;
    bool digesting = false;
    std::vector<DeviceDigests> digests;
    ReplyPtr reply;
    Clock::time_point deadline;
  };
  void End();
  void Fail(const Error& error);
  void ResumeAfter(const Operation& operation);
  /// Whether paused ranks of the node wait because a resume message was lost.
  static bool MissedResume(const Job& job, std::int32_t node, const wire::NodeJob& row);

  JobTable& jobs_;
  TransactionNumbers& numbers_;
  const World around_;
  std::optional<Operation> operation_;
};

}  // namespace tessera::agents
