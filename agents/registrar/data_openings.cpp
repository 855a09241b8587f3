// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/data_openings.h"

#include <fmt/format.h>

namespace tessera::agents {
namespace {

/// The snapshot shows an opening only after this time, because a row that vanishes at once cannot
/// be read.
constexpr std::chrono::seconds kShownAfter{1};

}  // namespace

void DataOpenings::Open(const std::string& name, const engine::JobSettings& settings,
                        const ReplyPtr& reply, DataOpener::Done then) {
  Opening& opening = openings_[name];
  opening = {reply, settings, {}, timers_.now(), timers_.now(), 0};
  opening.id = world_.data->Open(
      settings,
      [this, name](const RankLoading& loading) {
        Opening& now = openings_.at(name);
        now.loading = loading;
        now.last_progress = timers_.now();
        MarkDirty();
      },
      [this, name, then = std::move(then)](const auto& status) {
        openings_.erase(name);
        MarkDirty();
        then(status);
      });
}

void DataOpenings::End(const std::string& name, const Error& why) {
  const auto found = openings_.find(name);
  world_.data->Cancel(found->second.id);
  const ReplyPtr reply = std::move(found->second.reply);
  openings_.erase(found);
  MarkDirty();
  reply->Fail(why);
}

bool DataOpenings::Stop(const wire::JobRequest& request, const ReplyPtr& reply) {
  if (request.act() != wire::JobRequest::STOP || !openings_.contains(request.job())) return false;
  End(request.job(),
      Cancelled(fmt::format("job '{}' was stopped while its data were opened", request.job())));
  AddEvent(engine::Severity::kInfo, request.job(),
           fmt::format("stopped while its data were opened{}", reply->RequesterText()));
  wire::Reply out;
  out.mutable_job()->set_step(0);
  reply->Done(std::move(out));
  return true;
}

Status DataOpenings::CheckNotOpening(const std::string& name) const {
  const auto found = openings_.find(name);
  if (found == openings_.end()) return OkStatus();
  return FailedPrecondition(fmt::format("job '{}' is still starting: {}", name,
                                        OpeningText(config_.node, found->second.loading)));
}

void DataOpenings::GiveUp(Clock::time_point now) {
  const std::chrono::seconds limit(config_.start_stall_seconds);
  std::vector<std::string> stalled;
  for (const auto& [name, opening] : openings_) {
    if (now - opening.last_progress > limit) stalled.push_back(name);
  }
  for (const std::string& name : stalled) {
    const std::string progress = OpeningText(config_.node, openings_.at(name).loading);
    End(name, FailedPrecondition(fmt::format("job '{}' did not start: no progress for {} s: {}",
                                             name, limit.count(), progress)));
  }
}

void DataOpenings::Describe(const Job& job) {
  if (job.settings.program) return;
  world_.data->Open(job.settings, {}, [this, name = job.name](const auto& status) {
    Job* found = jobs_.Find(name);
    if (!found || !status) return;  // the ranks report what is wrong with the data
    found->data = *status;
    MarkDirty();
  });
}

std::vector<engine::JobStatus> DataOpenings::Rows() const {
  std::vector<engine::JobStatus> rows;
  for (const auto& [name, opening] : openings_) {
    if (timers_.now() - opening.began < kShownAfter) continue;
    engine::JobStatus row;
    row.name = name;
    row.model = opening.settings.model.name;
    row.reason = OpeningText(config_.node, opening.loading);
    row.global_batch = opening.settings.global_batch;
    row.max_steps = opening.settings.max_steps;
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace tessera::agents
