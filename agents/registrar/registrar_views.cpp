// SPDX-License-Identifier: Apache-2.0
// Requests of clients for the state of jobs: the list of jobs, and views.
#include <fmt/format.h>

#include "agents/registrar/pending_reply.h"
#include "agents/registrar/registrar.h"

namespace tessera::agents {
namespace {

/// Whether the old state is still complete and in place: ranks start, or train until the pause.
bool IsBeforeTransfer(engine::TxnPhase phase) {
  using engine::TxnPhase;
  return phase == TxnPhase::kPlanned || phase == TxnPhase::kPreparing ||
         phase == TxnPhase::kPrecopying || phase == TxnPhase::kPausing;
}

}  // namespace

ViewDesk::World Registrar::WorldOfViews() {
  ViewDesk::World world;
  world.job = [this](const std::string& name) { return FindViewable(name); };
  world.send = [this](std::int32_t node, const wire::ToNode& message) {
    return SendTo(node, message);
  };
  world.describe = [this](std::int32_t number, wire::ViewShare* share) {
    if (const Node* node = members_.Find(number)) DescribeShare(*node, share);
  };
  return world;
}

void Registrar::DescribeShare(const Node& node, wire::ViewShare* share) {
  share->set_machine(node.machine);
  *share->mutable_lanes() = node.peer.lanes();
  share->set_public_key(node.peer.public_key());
}

Result<ViewableJob> Registrar::FindViewable(const std::string& name) {
  TESSERA_TRY(const Job* const job, NeedJob(name));
  const std::optional<std::int64_t> rests_at = RestsAt(*job);
  ViewableJob out{name,
                  job->epoch,
                  job->timeline,
                  job->step,
                  job->layout,
                  engine::ToJson(job->settings),
                  job->state == engine::JobState::kPaused || rests_at,
                  UsualStepSeconds(*job),
                  std::chrono::duration<double>(timers_.now() - job->last_step).count(),
                  job->settings.max_steps};
  if (rests_at) {
    out.step = *rests_at;
    return out;
  }
  const bool changes = txn_ && txn_->job == name;
  if (changes && !IsBeforeTransfer(txn_->run->phase())) {
    out.busy = fmt::format("transaction {} is {}", txn_->id, ToString(txn_->run->phase()));
    return out;
  }
  if (!changes && job->state != engine::JobState::kRunning &&
      job->state != engine::JobState::kPaused && job->state != engine::JobState::kPausing) {
    return FailedPrecondition(fmt::format("job '{}' is {}{}", name, ToString(job->state),
                                          job->reason.empty() ? "" : ": " + job->reason));
  }
  return out;
}

SnapshotDesk::World Registrar::WorldOfSnapshots() {
  SnapshotDesk::World world;
  world.take = [this](const std::string& job, ViewDesk::Done done) {
    views_.TakeSnapshot(job, std::move(done));
  };
  world.renew = [this](std::uint64_t view) {
    wire::KeepViewsRequest request;
    request.add_views(view);
    return views_.Keep(request);
  };
  world.send = [this](std::int32_t node, const wire::ToNode& message) {
    return SendTo(node, message);
  };
  world.warn = [this](const std::string& job, const std::string& text) {
    AddEvent(engine::Severity::kWarning, job, text);
  };
  world.journal = &journal_;
  return world;
}

void Registrar::ConsiderSnapshot(const Job& job) {
  // It trains while the ranks of a new layout start, which may take long.
  const bool trains_on = txn_ && txn_->job == job.name && !txn_->was_paused && !txn_->recovery &&
                         IsBeforeTransfer(txn_->run->phase());
  const bool runs = job.state == engine::JobState::kRunning || trains_on;
  snapshots_.Consider(
      {job.name, job.snapshots, runs, job.step, job.timeline, UsualStepSeconds(job)},
      timers_.now());
}

void Registrar::OnJobs(const ReplyPtr& reply) {
  wire::Reply out;
  out.mutable_jobs();
  for (const auto& [name, job] : jobs_) {
    wire::JobStateInfo* row = out.mutable_jobs()->add_jobs();
    row->set_name(name);
    row->set_epoch(job.epoch);
    row->set_timeline(job.timeline);
    row->set_step(job.step);
    row->set_layout(ptc::ToJson(job.layout));
    row->set_settings(engine::ToJson(job.settings));
  }
  for (const auto& [number, node] : members_.nodes()) {
    out.mutable_jobs()->add_agent_keys(node.peer.public_key());
  }
  reply->Done(std::move(out));
}

void Registrar::OnView(const std::string& request_id, const wire::ViewRequest& request,
                       const ReplyPtr& reply) {
  views_.Take(request_id, request,
              [this, job = request.job(), reply](Result<wire::ViewReply> view) {
                if (!view) {
                  if (view.error().code == ErrorCode::kResourceExhausted) {
                    AddEvent(engine::Severity::kWarning, job,
                             "no view: " + view.error().ToString() + reply->RequesterText());
                  }
                  return reply->Fail(view.error());
                }
                wire::Reply out;
                *out.mutable_view() = std::move(*view);
                reply->Done(std::move(out));
              });
}

void Registrar::ForwardToAll(const wire::ToNode& message, const ReplyPtr& reply,
                             const Status& status) {
  for (const auto& [number, node] : members_.nodes()) static_cast<void>(SendTo(number, message));
  if (!status) return reply->Fail(status.error());
  wire::Reply out;
  out.mutable_done();
  reply->Done(std::move(out));
}

}  // namespace tessera::agents
