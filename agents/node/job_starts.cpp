// SPDX-License-Identifier: Apache-2.0
#include "agents/node/job_starts.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "agents/node/held_state.h"
#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/node.pb.h"
#include "engine/model/gpt.h"
#include "engine/model/job_layout.h"
#include "engine/store/allocate.h"

namespace tessera::agents {
namespace {

/// The first pieces of a device.
struct FirstPieces {
  DeviceStore::Device* device = nullptr;
  engine::PieceTable table;
};

Result<std::vector<FirstPieces>> AllocateFirst(const wire::StartJob& message,
                                               const ptc::Layout& layout,
                                               const std::vector<ptc::DeviceId>& local,
                                               DeviceStore& devices, PlanMemo& memo) {
  std::vector<FirstPieces> out;
  for (const ptc::DeviceId id : local) {
    DeviceStore::Device* device = devices.Find(id);
    if (!device) return NotFound(fmt::format("device {} does not exist", ToString(id)));
    if (device->failed) return FailedPrecondition(fmt::format("device {} failed", ToString(id)));
    if (device->table) {
      return FailedPrecondition(
          fmt::format("device {} is in job '{}'", ToString(id), device->table->job()));
    }
    TESSERA_TRY(engine::PieceTable table,
                engine::AllocateInitial(message.job(), message.epoch(), layout,
                                        *layout.mesh().RankOf(id), device->arena->capacity()));
    memo.ShareEntries(table);
    out.push_back({device, std::move(table)});
  }
  return out;
}

Launch LaunchOf(const wire::StartJob& message, const std::string& settings,
                const ptc::Layout& layout) {
  return {.job = message.job(),
          .settings = settings,
          .layout = layout,
          .epoch = message.epoch(),
          .attempt = message.attempt(),
          .micro_batch = message.micro_batch(),
          .peers = message.peers()};
}

}  // namespace

void JobStarts::OnStartJob(const wire::StartJob& message) {
  const Status status = Start(message);
  if (status) return;
  // Nothing of a start that failed is left, so that the message can be carried out again.
  const HeldJobs::Job* job = world_.jobs.Find(message.job());
  if (!message.again() && job && job->start == message.start()) world_.drop(message.job());
  wire::FromNode reply;
  reply.mutable_job_ready()->set_job(message.job());
  reply.mutable_job_ready()->set_ok(false);
  reply.mutable_job_ready()->set_start(message.start());
  reply.mutable_job_ready()->set_reason(status.error().ToString());
  world_.uplink.Send(std::move(reply));
}

Status JobStarts::Start(const wire::StartJob& message) {
  if (message.again()) return StartAgain(message);
  if (const HeldJobs::Job* job = world_.jobs.Find(message.job())) {
    if (job->start == message.start()) {  // a repeated message
      world_.pauses.Report(message.job());
      return OkStatus();
    }
    const std::uint64_t held = job->row.origin;
    const auto& ended = message.ended();
    // It may be this job, which an earlier agent of this node has begun to start.
    const bool may_drop = held == 0 || held == message.start() ||
                          std::find(ended.begin(), ended.end(), held) != ended.end();
    if (!may_drop) {
      return FailedPrecondition(
          fmt::format("n{} holds another job '{}' (epoch {}), which the registrar does not know",
                      world_.jobs.node(), message.job(), job->row.epoch));
    }
    // The earlier job with this name has ended, but the message about its end was lost.
    world_.drop(message.job());
  }
  return StartNew(message);
}

Status JobStarts::StartNew(const wire::StartJob& message) {
  world_.steps.Forget(message.job());  // of an earlier job with this name
  world_.logs.Forget(message.job());
  TESSERA_TRY(ptc::Layout layout, world_.machine.memo->ParseLayout(message.layout()));
  TESSERA_TRY(const auto settings, engine::ParseJobSettings(message.settings()));
  TESSERA_RETURN_IF_ERROR(engine::CheckRunnable(settings, layout));
  TESSERA_TRY(const std::vector<FirstPieces> pieces,
              AllocateFirst(message, layout, world_.jobs.LocalOf(layout), world_.devices,
                            *world_.machine.memo));
  TESSERA_RETURN_IF_ERROR(
      world_.machine.write_job_files(message.job(), message.settings(), layout));
  HeldJobs::Job job{.name = message.job(),
                    .row = {message.settings(), layout, message.epoch(), message.timeline(),
                            message.start(), message.micro_batch()},
                    .starting = true,
                    .start = message.start()};
  // Without its row the next agent of this node would not know what the devices hold.
  TESSERA_RETURN_IF_ERROR(world_.jobs.Journal(job));
  for (const auto& [device, table] : pieces) {
    TESSERA_RETURN_IF_ERROR(
        table.Write(*device->arena, engine::PieceTable::SlotOf(message.epoch())));
    world_.devices.Flip(*device, table, message.timeline(), 0);
  }
  world_.jobs.Put(std::move(job));
  Launch launch = LaunchOf(message, message.settings(), layout);
  launch.initialise = true;
  return StartRanks(launch);
}

Status JobStarts::StartAgain(const wire::StartJob& message) {
  HeldJobs::Job* job = world_.jobs.Find(message.job());
  if (!job) {
    return FailedPrecondition(
        fmt::format("n{} holds nothing of job '{}'", world_.jobs.node(), message.job()));
  }
  if (job->attempt == message.attempt()) {  // a repeated message
    world_.pauses.Report(message.job());
    return OkStatus();
  }
  for (const ptc::DeviceId id : world_.jobs.LocalOf(job->row.layout)) {
    const auto held = CheckHeldState(world_.devices, world_.ranks, message, id);
    if (!held) return held.error();
  }
  job->starting = true;
  job->start = message.start();
  TESSERA_RETURN_IF_ERROR(StartRanks(LaunchOf(message, job->row.settings, job->row.layout)));
  job->attempt = message.attempt();
  return OkStatus();
}

Status JobStarts::StartRanks(const Launch& launch) {
  for (const ptc::DeviceId id : world_.jobs.LocalOf(launch.layout)) {
    TESSERA_RETURN_IF_ERROR(world_.starter.Start(launch, *launch.layout.mesh().RankOf(id)));
  }
  return OkStatus();
}

void JobStarts::OnFinishUpdate(const wire::FinishUpdate& message) {
  last_order_ = message.order();
  const wire::StartJob& start = message.job();
  const HeldJobs::Job* job = world_.jobs.Find(start.job());
  if (!job) return;
  const ptc::Layout& layout = job->row.layout;
  Launch launch = LaunchOf(start, job->row.settings, layout);
  launch.finish_update = true;
  for (const wire::Device& wanted : message.devices()) {
    const auto id = Decode(wanted);
    if (!id || id->node != world_.jobs.node() || !layout.mesh().RankOf(*id)) continue;
    const auto lags = CheckHeldState(world_.devices, world_.ranks, start, *id);
    Status status = lags ? OkStatus() : Status(lags.error());
    if (lags && *lags) status = world_.starter.Start(launch, *layout.mesh().RankOf(*id));
    if (RankTable::Rank* rank = world_.ranks.Find({start.job(), *id})) rank->exit_expected = true;
    if (!status) {
      world_.uplink.ReportEvent(engine::Severity::kError, start.job(), status.error().ToString());
    }
  }
  world_.send_heartbeat();
}

}  // namespace tessera::agents
