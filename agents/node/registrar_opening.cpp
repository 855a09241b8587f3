// SPDX-License-Identifier: Apache-2.0
// What a job reads is opened before it starts: on this node first, then by its ranks. Both may take
// as long as they come further, can be stopped, and are given up where they stand.
#include <fmt/format.h>

#include "agents/node/pending_reply.h"
#include "agents/node/registrar.h"

namespace tessera::agents {
namespace {

/// For so long a start may stand: no word of a rank, or of this node, that it has come further.
constexpr std::chrono::seconds kStartDeadline{120};
/// What is open before that is not shown: nobody could read it.
constexpr std::chrono::seconds kShownAfter{1};

}  // namespace

void Registrar::OpenForStart(const std::string& name, const engine::JobSettings& settings,
                             const ReplyPtr& reply, DataOpener::Done then) {
  Opening& opening = openings_[name];
  opening = {reply, settings, {}, Clock::now(), Clock::now(), 0};
  opening.id = openers_.Open(
      settings,
      [this, name](const RankLoading& loading) {
        Opening& now = openings_.at(name);
        now.loading = loading;
        now.told = Clock::now();
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
  openers_.Cancel(found->second.id);
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
           fmt::format("stopped while its data were opened{}", reply->ByWhom()));
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
  if (!job || !job->start_watch || !rank || rank->node != node) return;
  job->start_watch->Note(*rank, {m.done(), m.total()}, Clock::now());
  MarkDirty();
}

void Registrar::GiveUpStarts(Clock::time_point now) {
  std::vector<std::string> standing;
  for (const auto& [name, opening] : openings_) {
    if (now - opening.told > kStartDeadline) standing.push_back(name);
  }
  for (const std::string& name : standing) {
    const std::string how_far = OpeningText(config_.node, openings_.at(name).loading);
    EndOpening(name, FailedPrecondition(
                         fmt::format("job '{}' did not start: it has not come further for {} s: {}",
                                     name, kStartDeadline.count(), how_far)));
  }
  std::vector<std::pair<std::string, std::string>> late;  // a job that fails is gone
  for (const auto& [name, job] : jobs_) {
    if (!job.starting || !job.start_watch) continue;
    const auto found = job.start_watch->FindLate(now, kStartDeadline);
    if (!found) continue;
    const Node* node = FindNode(found->rank.node);
    late.emplace_back(
        name, fmt::format("{}{} {}", ToString(found->rank),
                          node ? fmt::format(" on '{}'", node->peer.host()) : "", found->what));
  }
  for (const auto& [name, why] : late) FailJob(*FindJob(name), why);
}

std::vector<engine::JobStatus> Registrar::OpeningJobs() const {
  std::vector<engine::JobStatus> rows;
  for (const auto& [name, opening] : openings_) {
    if (Clock::now() - opening.began < kShownAfter) continue;
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
