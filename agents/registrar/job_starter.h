// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Starts new jobs. All checks that need no rank come before any rank is started.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agents/checkpoint/stored_state.h"
#include "agents/registrar/data_openings.h"
#include "agents/registrar/decisions.h"
#include "agents/registrar/job_stops.h"
#include "agents/registrar/job_table.h"
#include "agents/registrar/plan_desk.h"
#include "agents/registrar/start_sender.h"
#include "agents/registrar/step_recorder.h"
#include "engine/checkpoint/manifest.h"

namespace tessera::agents {

class JobStarter : public RegistrarPart {
 public:
  /// Parts that it uses. All outlive it.
  struct Uses {
    DataOpenings& openings;
    PlanDesk& plans;
    Decisions& decisions;
    StepRecorder& steps;
    StartSender& sender;
    JobStops& stops;
    Rendezvous& rendezvous;
  };
  struct World {
    /// \error naming what must end before
    std::function<Status()> check_idle;
    /// Whether a transaction of the job runs.
    std::function<bool(const Job& job)> is_changing;
    /// The ranks of a job cannot go on.
    std::function<void(Job& job, const std::string& reason)> interrupt;
    /// As CheckpointDesk::Look.
    std::function<void(const std::string& path,
                       std::function<void(Result<checkpoint::Manifest>)> then)>
        look;
    /// As TransactionDesk::BeginFrom.
    std::function<void(const Job& job, StoredState state)> begin_from;
    /// All ranks of a suspended job are there again.
    std::function<void(Job& job)> restarted;
    std::function<void(Job& job)> resume;
    /// The job is forgotten; afterwards it is erased.
    std::function<void(const std::string& job)> forgotten;
  };
  JobStarter(const Common& common, JobTable& jobs, const Uses& uses, World world)
      : RegistrarPart(common),
        uses_(uses),
        jobs_(jobs),
        around_(std::move(world)),
        began_(common.timers.now()) {}

  void OnStartJob(const wire::StartJobRequest& request, const ReplyPtr& reply);
  /// Each second: ends the starts that an earlier registrar has left, carries out the requests that
  /// have waited for that or for nodes, and interrupts the jobs whose ranks have stalled before
  /// their first step.
  void Tick(Clock::time_point now);
  /// Searches for the configurations in which the job could start, without opening its data.
  void OnPropose(const wire::ProposeStartRequest& request, const ReplyPtr& reply) const;
  /// A job has taken over the state of its checkpoint, and its ranks continue.
  void OnStarted(Job& job);
  void OnJobReady(std::int32_t node, const wire::JobReady& message);
  /// The job has made no step: nothing of it is kept, and its name is free again.
  /// \pre job.starting or job.lost_start
  void Fail(Job& job, const std::string& reason);

 private:
  /// Whether the request must wait, because this registrar has just taken over: nodes that the one
  /// before knew may still register, or what it has left of the same start is not ended yet.
  bool MustWait(const std::string& request_id) const;
  /// Ends the starts that an earlier registrar has left once their nodes have reported, unless a
  /// transaction goes on with them. A client that still waits has repeated its request.
  void EndLostStarts();
  /// The latest step that a device reports of the job.
  std::int64_t StepOnNodes(const Job& job) const;
  void GiveUp(Clock::time_point now);
  void Begin(const wire::StartJobRequest& request, const ReplyPtr& reply);
  /// Checks the request as far as possible without its data.
  Result<engine::JobSettings> Check(const wire::StartJobRequest& request) const;
  struct Choice {
    ptc::DeviceMesh mesh;
    engine::StepOptions options;
    std::string why;  // empty if the request gives the mesh
  };
  struct ChoiceInput {
    engine::SearchInput search;
    std::optional<engine::StepOptions> options;  // that the request gives
  };
  /// Of the checkpoint that the job begins with; null: it begins from nothing.
  using ManifestPtr = std::shared_ptr<const checkpoint::Manifest>;
  using BasedStart =
      std::function<void(const wire::StartJobRequest& based, const ManifestPtr& manifest)>;
  /// Looks into the checkpoint of the request, and calls `then` with its settings and name in the
  /// request; at once if there is none. Fails the reply otherwise.
  void WithBase(const wire::StartJobRequest& request, const ReplyPtr& reply,
                const BasedStart& then) const;
  void OpenAndStart(const wire::StartJobRequest& request, const ManifestPtr& manifest,
                    const ReplyPtr& reply);
  void Propose(const wire::StartJobRequest& start, std::int64_t limit, const ReplyPtr& reply) const;
  /// A job of which everything is known but where it runs.
  struct Opened {
    ManifestPtr manifest;  // null: it begins at step 0
    engine::DataStatus data;
    std::int64_t slot = 1;  // of its first decision
  };
  void ChooseAndStart(const wire::StartJobRequest& request, const Opened& opened,
                      const ReplyPtr& reply);
  /// \error naming a device that cannot be used any more
  Status CheckUsable(const Choice& choice) const;
  /// Where the job starts: as the request wants it, else by a search on the worker.
  void Choose(const wire::StartJobRequest& request, std::function<void(Result<Choice>)> then) const;
  Result<Choice> Given(const wire::StartJobRequest& request) const;
  Result<ChoiceInput> InputOfChoice(const wire::StartJobRequest& request) const;
  /// Those of the request, else all that are idle.
  Result<std::vector<ptc::DeviceId>> DevicesOf(const wire::StartJobRequest& request) const;
  Status Start(const wire::StartJobRequest& request, const Opened& opened, Choice start,
               const ReplyPtr& reply);

  struct Waiting {
    wire::StartJobRequest request;
    ReplyPtr reply;
  };
  const Uses uses_;
  JobTable& jobs_;
  const World around_;
  const Clock::time_point began_;  // this registrar
  std::vector<Waiting> waiting_;   // for nodes
};

}  // namespace tessera::agents
