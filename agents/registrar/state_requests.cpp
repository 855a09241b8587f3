// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/state_requests.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "agents/registrar/compute.h"
#include "agents/registrar/describe_share.h"
#include "engine/model/shown_settings.h"

namespace tessera::agents {

StateRequests::StateRequests(const Common& common, JobTable& jobs, World world)
    : RegistrarPart(common),
      jobs_(jobs),
      around_(std::move(world)),
      views_(timers_, WorldOfViews(), {.lease = std::chrono::seconds(config_.view_lease_seconds)}),
      snapshots_(WorldOfSnapshots()) {}

ViewDesk::World StateRequests::WorldOfViews() {
  ViewDesk::World world;
  world.job = [this](const std::string& name) { return FindViewable(name); };
  world.send = [this](std::int32_t node, const wire::ToNode& message) {
    return SendTo(node, message);
  };
  world.describe = [this](std::int32_t number, const std::string& job, std::uint64_t view,
                          wire::ViewShare* share) {
    const Membership::Node* node = members_.Find(number);
    if (node) DescribeShare(*node, job, view, share);
  };
  return world;
}

Result<ViewableJob> StateRequests::FindViewable(const std::string& name) {
  TESSERA_TRY(const Job* const job, jobs_.Need(name));
  const std::optional<std::int64_t> rests_at = around_.rests_at(*job);
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
  out.guest = GuestFor(*job);
  out.origin = job->start;
  if (rests_at) {
    out.step = *rests_at;
    return out;
  }
  const Txn* const txn = around_.transaction();
  const bool changes = txn && txn->job == name;
  if (changes && !txn->IsBeforeTransfer()) {
    out.busy = fmt::format("transaction {} is {}", txn->id, ToString(txn->run->phase()));
    return out;
  }
  if (!changes && job->state != engine::JobState::kRunning &&
      job->state != engine::JobState::kPaused && job->state != engine::JobState::kPausing) {
    return FailedPrecondition(fmt::format("job '{}' is {}{}", name, ToString(job->state),
                                          job->reason.empty() ? "" : ": " + job->reason));
  }
  return out;
}

// Called at each step, so it does not look at all devices of a job on several nodes.
std::optional<std::int32_t> StateRequests::GuestFor(const Job& job) const {
  const std::vector<ptc::DeviceId>& devices = job.layout.mesh().devices();
  const auto elsewhere = [&](ptc::DeviceId device) { return device.node != devices.front().node; };
  if (std::ranges::any_of(devices, elsewhere)) return std::nullopt;
  return GuestOf(NodesOf(job.layout.mesh()), members_.Alive());
}

void StateRequests::Forecast(const Job& job,
                             std::function<void(const SnapshotForecast& forecast)> then) {
  ComputeWith(
      world_,
      [layout = job.layout, guest = GuestFor(job)] { return ForecastSnapshots(layout, guest); },
      std::move(then));
}

void StateRequests::RenewForecast(const Job& job) {
  const std::optional<std::int32_t> guest = GuestFor(job);
  const auto [known, is_new] = forecasts_.try_emplace(job.name);
  if (!is_new && known->second.epoch == job.epoch && known->second.guest == guest) return;
  known->second = {job.epoch, guest, {}};
  Forecast(job, [this, name = job.name, epoch = job.epoch, guest](const SnapshotForecast& made) {
    const Job* const now = jobs_.Find(name);
    const auto found = forecasts_.find(name);
    if (!now || found == forecasts_.end()) return;
    if (found->second.epoch != epoch || found->second.guest != guest) return;  // out of date
    found->second.memory = made.memory;
    MarkDirty();
    if (const std::string lack = LackFor(*now, made); !lack.empty()) {
      AddEvent(engine::Severity::kWarning, name, "snapshots are likely to be given up: " + lack);
    }
  });
}

std::string StateRequests::LackFor(const Job& job, const SnapshotForecast& forecast) const {
  const bool has_one = snapshots_.StatusOf(job.name).step.has_value() ||
                       snapshots_.Find(job.name, job.timeline) != nullptr;
  return LackOfMemory(forecast, members_, has_one ? 1 : 2);
}

engine::SnapshotStatus StateRequests::SnapshotsOf(const Job& job) const {
  engine::SnapshotStatus status = snapshots_.StatusOf(job.name, job.timeline);
  status.every = job.snapshots;
  if (const auto known = forecasts_.find(job.name); known != forecasts_.end()) {
    status.forecast = known->second.memory;
  }
  return status;
}

void StateRequests::Forget(const std::string& job) {
  snapshots_.Forget(job);
  forecasts_.erase(job);
}

SnapshotDesk::World StateRequests::WorldOfSnapshots() {
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
  world.may_free = [this](const std::string& name, std::uint64_t origin) {
    const Job* const job = jobs_.Find(name);
    if (job && job->MayOwn(origin) && job->keeps_snapshots) return false;
    return jobs_.IsExplained(name, origin);
  };
  return world;
}

void StateRequests::ConsiderSnapshot(const Job& job) {
  if (job.snapshots.is_on()) {
    RenewForecast(job);
  } else {
    forecasts_.erase(job.name);
  }
  // It trains while the ranks of a new layout start, which may take long.
  const Txn* const txn = around_.transaction();
  const bool trains_on = txn && txn->job == job.name && txn->TrainsOn();
  const bool runs = job.state == engine::JobState::kRunning || trains_on;
  snapshots_.Consider({job.name, job.snapshots, runs, job.step, job.timeline, UsualStepSeconds(job),
                       job.keeps_snapshots},
                      timers_.now());
}

void StateRequests::OnJobs(Role role, const ReplyPtr& reply) {
  wire::Reply out;
  out.mutable_jobs();
  for (const auto& [name, job] : jobs_) {
    wire::JobStateInfo* row = out.mutable_jobs()->add_jobs();
    row->set_name(name);
    row->set_epoch(job.epoch);
    row->set_timeline(job.timeline);
    row->set_step(job.step);
    row->set_layout(ptc::ToJson(job.layout));
    row->set_settings(role == Role::kOperator ? engine::ToJson(job.settings)
                                              : engine::ShownJson(job.settings));
  }
  for (const auto& [number, node] : members_.nodes()) {
    out.mutable_jobs()->add_agent_keys(node.peer.public_key());
  }
  reply->Done(std::move(out));
}

void StateRequests::OnView(const std::string& request_id, const wire::ViewRequest& request,
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

void StateRequests::ForwardToAll(const wire::ToNode& message, const ReplyPtr& reply,
                                 const Status& status) {
  for (const auto& [number, node] : members_.nodes()) static_cast<void>(SendTo(number, message));
  if (!status) return reply->Fail(status.error());
  wire::Reply out;
  out.mutable_done();
  reply->Done(std::move(out));
}

void StateRequests::OnKeepViews(const wire::KeepViewsRequest& request, const ReplyPtr& reply) {
  wire::ToNode keep;
  *keep.mutable_keep_views() = request;
  ForwardToAll(keep, reply, views_.Keep(request));
}

void StateRequests::OnReleaseViews(const wire::ReleaseViewsRequest& request,
                                   const ReplyPtr& reply) {
  views_.Release(request);
  wire::ToNode release;
  *release.mutable_release_views() = request;
  ForwardToAll(release, reply);
}

void StateRequests::OnNodeGone(std::int32_t node, const std::string& why) {
  views_.OnNodeGone(node, why);
  snapshots_.OnNodeGone(node, why, timers_.now());
}

}  // namespace tessera::agents
