// SPDX-License-Identifier: Apache-2.0
// The data of a job are opened before it starts, first on this node, then by its ranks. Ranks that
// join a running job open them too. An opening may take any time while it makes progress. It can be
// stopped, and it fails when it stalls.
#include <fmt/format.h>

#include "agents/registrar/pending_reply.h"
#include "agents/registrar/registrar.h"

namespace tessera::agents {
namespace {

/// The snapshot shows an opening only after this time, because a row that vanishes at once cannot
/// be read.
constexpr std::chrono::seconds kShownAfter{1};

}  // namespace

void Registrar::OpenForStart(const std::string& name, const engine::JobSettings& settings,
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

void Registrar::EndOpening(const std::string& name, const Error& why) {
  const auto found = openings_.find(name);
  world_.data->Cancel(found->second.id);
  const ReplyPtr reply = std::move(found->second.reply);
  openings_.erase(found);
  MarkDirty();
  reply->Fail(why);
}

bool Registrar::StopOpening(const wire::JobRequest& request, const ReplyPtr& reply) {
  if (request.act() != wire::JobRequest::STOP || !openings_.contains(request.job())) return false;
  EndOpening(request.job(), Cancelled(fmt::format("job '{}' was stopped while its data were opened",
                                                  request.job())));
  AddEvent(engine::Severity::kInfo, request.job(),
           fmt::format("stopped while its data were opened{}", reply->RequesterText()));
  wire::Reply out;
  out.mutable_job()->set_step(0);
  reply->Done(std::move(out));
  return true;
}

Status Registrar::CheckNotOpening(const std::string& name) const {
  const auto found = openings_.find(name);
  if (found == openings_.end()) return OkStatus();
  return FailedPrecondition(fmt::format("job '{}' is still starting: {}", name,
                                        OpeningText(config_.node, found->second.loading)));
}

void Registrar::OnRankLoad(std::int32_t node, const wire::RankLoad& m) {
  Job* job = FindJob(m.job());
  const auto rank = Decode(m.device());
  if (!job || !rank || rank->node != node) return;
  auto& watch = txn_ && txn_->job == job->name ? txn_->start_watch : job->start_watch;
  if (!watch) return;
  watch->Note(*rank, {m.done(), m.total()}, timers_.now());
  MarkDirty();
}

void Registrar::WatchJoining(Txn& txn, const Job& job) {
  const auto now = timers_.now();
  const std::vector<ptc::DeviceId>& devices = txn.planned.to.mesh().devices();
  txn.start_watch.emplace(devices, now);
  // The staying ranks have their data open, so they are not the ones that stall.
  for (const ptc::DeviceId device : devices) {
    if (job.layout.mesh().RankOf(device)) txn.start_watch->Note(device, {1, 1}, now);
  }
}

std::string Registrar::LateText(const StartWatch::Late& late) {
  const Node* node = members_.Find(late.rank.node);
  return fmt::format("{}{} {}", ToString(late.rank),
                     node ? fmt::format(" on '{}'", node->peer.host()) : "", late.what);
}

void Registrar::GiveUpStarts(Clock::time_point now) {
  const std::chrono::seconds limit(config_.start_stall_seconds);
  std::vector<std::string> stalled;
  for (const auto& [name, opening] : openings_) {
    if (now - opening.last_progress > limit) stalled.push_back(name);
  }
  for (const std::string& name : stalled) {
    const std::string progress = OpeningText(config_.node, openings_.at(name).loading);
    EndOpening(name,
               FailedPrecondition(fmt::format("job '{}' did not start: no progress for {} s: {}",
                                              name, limit.count(), progress)));
  }
  std::vector<std::pair<std::string, std::string>> late;  // InterruptJob erases a starting job
  for (const auto& [name, job] : jobs_) {
    if (!job.start_watch) continue;
    const auto found = job.start_watch->FindLate(now, limit);
    if (found) late.emplace_back(name, LateText(*found));
  }
  for (const auto& [name, why] : late) InterruptJob(*FindJob(name), why);
  if (!txn_ || !txn_->start_watch) return;
  if (const auto found = txn_->start_watch->FindLate(now, limit)) {
    Feed(engine::CancelRequested{LateText(*found)});
  }
}

std::vector<engine::JobStatus> Registrar::OpeningJobs() const {
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
