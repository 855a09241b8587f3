// SPDX-License-Identifier: Apache-2.0
#include "agents/node/job_pauses.h"

#include <algorithm>
#include <utility>

#include "agents/job/rank_links.h"
#include "agents/node/node_views.h"
#include "agents/wire/tessera/wire/node.pb.h"
#include "agents/wire/utf8.h"

namespace tessera::agents {

void JobPauses::OnPauseJob(const wire::PauseJob& message) {
  RaiseRequest(message.job(), message.number(), message.at_step());
  Report(message.job());  // the job may be paused already
}

void JobPauses::OnResumeJob(const wire::ResumeJob& message) {
  HeldJobs::Job* job = jobs_.Find(message.job());
  if (!job) return;
  if (std::exchange(job->starting, false)) rendezvous_.Forget(message.job());
  job->resumed_through = std::max<std::uint64_t>(job->resumed_through, message.through());
  Resume(*job, true);
}

void JobPauses::Note(RankTable::Rank& rank, RankTable::Pause pause) {
  if (pause.step < 0) {
    const DeviceStore::Device* device = devices_.Find(rank.id.device);
    pause.step = device ? static_cast<std::int64_t>(device->arena->header().end.load()) : 0;
  }
  if (pause.request != engine::kRequestNoData) {
    pause.before_update = (pause.request & engine::kRequestBeforeUpdate) != 0;
    pause.request &= ~engine::kRequestBeforeUpdate;
  }
  rank.paused = std::move(pause);
  rank.adopted = false;
}

void JobPauses::Follow(RankTable::Rank& rank) {
  const HeldJobs::Job* job = jobs_.Find(rank.id.job);
  if (!job) return;
  const std::uint64_t request = rank.paused->request;
  if (request > engine::kRequestStepsDone && request <= job->resumed_through) {
    return SendResume(rank, job->row.epoch);
  }
  Report(job->name);
}

std::optional<RankTable::Pause> JobPauses::AllPaused(const std::string& job) const {
  return ranks_.AllPaused(job, devices_.Of(job));
}

void JobPauses::Report(const std::string& name) {
  const auto all = AllPaused(name);
  const HeldJobs::Job* job = jobs_.Find(name);
  if (!all || !job) return;
  links_.views->OnPaused(name, all->step);
  wire::FromNode message;
  if (job->starting) {
    message.mutable_job_ready()->set_job(name);
    message.mutable_job_ready()->set_ok(true);
    message.mutable_job_ready()->set_start(job->start);
  } else {
    message.mutable_job_paused()->set_job(name);
    message.mutable_job_paused()->set_request(all->request);
    message.mutable_job_paused()->set_step(all->step);
    message.mutable_job_paused()->set_reason(Utf8(all->reason));
  }
  uplink_.Send(std::move(message));
}

void JobPauses::ReportAll() {
  for (const auto& [name, job] : jobs_.jobs()) Report(name);
}

void JobPauses::RepeatReady() {
  for (const auto& [name, job] : jobs_.jobs()) {
    if (job.starting) Report(name);
  }
}

void JobPauses::RaiseRequest(const std::string& job, std::uint64_t number, std::int64_t at_step) {
  for (const ptc::DeviceId id : devices_.Of(job)) {
    engine::ArenaHeader& header = devices_.Find(id)->arena->header();
    header.request_step.store(static_cast<std::uint64_t>(at_step));
    header.request.store(number);
  }
}

void JobPauses::GoOn(const std::string& name, std::int64_t step) {
  const HeldJobs::Job* const job = jobs_.Find(name);
  if (!job) return;
  for (const ptc::DeviceId device : devices_.Of(name)) {
    RankTable::Rank* const rank = ranks_.Find({name, device});
    const bool waits = rank && rank->paused && rank->paused->before_update;
    if (waits && rank->paused->step < step) SendResume(*rank, job->row.epoch);
  }
}

void JobPauses::EndRequest(const std::string& name, std::uint64_t through, bool stay_paused) {
  HeldJobs::Job* job = jobs_.Find(name);
  if (!job) return;
  for (const ptc::DeviceId id : devices_.Of(name)) {
    devices_.Find(id)->arena->header().request.store(0);
  }
  // A job that stays paused waits for a request of before, which has not ended: a rank that reports
  // its pause later, because the agent has restarted, must not be resumed then. Ranks that have
  // been started again meanwhile wait for those of other nodes.
  if (stay_paused || job->starting) return;
  job->resumed_through = std::max(job->resumed_through, through);
  Resume(*job, false);
}

void JobPauses::Resume(const HeldJobs::Job& job, bool data_too) {
  for (const ptc::DeviceId device : devices_.Of(job.name)) {
    devices_.Find(device)->arena->header().request.store(0);
    RankTable::Rank* rank = ranks_.Find({job.name, device});
    if (!rank || !rank->paused || rank->paused->request == engine::kRequestStepsDone) continue;
    if (!data_too && rank->paused->request == engine::kRequestNoData) continue;
    SendResume(*rank, job.row.epoch);
  }
}

void JobPauses::SendResume(RankTable::Rank& rank, std::int64_t epoch) {
  rank.paused.reset();
  static_cast<void>(links_.ranks->SendCommand(rank.id, RankCommand::kResume, epoch, nullptr));
}

}  // namespace tessera::agents
