// SPDX-License-Identifier: Apache-2.0
#include "agents/node/step_reports.h"

#include <utility>

namespace tessera::agents {

void StepReports::OnDecided(const RankId& id, const RankDecision& decision) {
  const HeldJobs::Job* job = jobs_.Find(id.job);
  if (!job) return;
  const bool reports = job->row.layout.mesh().RankOf(id.device) == 0;
  std::map<std::int64_t, wire::StepReport>& recent = recent_[id.job];
  if (!reports && recent.contains(decision.step)) return;
  wire::FromNode message;
  wire::StepReport* step = message.mutable_step();
  step->set_job(id.job);
  step->set_step(decision.step);
  step->set_loss(decision.loss);
  step->set_norm2(decision.norm2);
  step->set_clip(decision.clip);
  step->set_tokens(decision.tokens);
  step->set_seconds(decision.seconds);
  step->set_epoch(job->row.epoch);
  step->set_time(decision.time);
  step->set_timeline(job->row.timeline);
  step->mutable_metrics()->insert(decision.metrics.begin(), decision.metrics.end());
  step->set_checkpoint(decision.checkpoint);
  recent.insert_or_assign(decision.step, *step);
  if (recent.size() > kMaxRecent) recent.erase(recent.begin());
  if (reports) uplink_.Send(std::move(message));
}

void StepReports::Repeat(const std::string& job, std::int64_t after) const {
  const auto recent = recent_.find(job);
  if (recent == recent_.end()) return;
  for (auto step = recent->second.upper_bound(after); step != recent->second.end(); ++step) {
    wire::FromNode message;
    *message.mutable_step() = step->second;
    uplink_.Send(std::move(message));
  }
}

void StepReports::Answer(const wire::RepeatSteps& request) const {
  Repeat(request.job(), request.after());
  wire::FromNode message;
  message.mutable_steps_repeated()->set_job(request.job());
  message.mutable_steps_repeated()->set_after(request.after());
  uplink_.Send(std::move(message));
}

}  // namespace tessera::agents
