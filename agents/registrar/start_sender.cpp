// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/start_sender.h"

#include "engine/model/gpt.h"

namespace tessera::agents {

wire::ToNode StartSender::MessageOf(const Job& job) const {
  wire::ToNode message;
  auto* out = message.mutable_start_job();
  out->set_job(job.name);
  out->set_start(job.start);
  for (const std::uint64_t origin : jobs_.EndedOf(job.name)) out->add_ended(origin);
  out->set_settings(engine::ToJson(job.settings));
  out->set_layout(ptc::ToJson(job.layout));
  out->set_epoch(job.epoch);
  out->set_attempt(job.attempt);
  out->set_timeline(job.timeline);
  out->set_micro_batch(job.options.micro_batch);
  *out->mutable_peers() = members_.peers();
  documents_.Shorten(message);
  return message;
}

void StartSender::Send(Job& job, wire::ToNode message) {
  job.start_message = std::make_shared<const wire::ToNode>(std::move(message));
  job.start_repeats = Repetition(timers_.now());
  for (const std::int32_t node : job.not_ready) {
    static_cast<void>(SendTo(node, job.start_message));
  }
}

void StartSender::Repeat(Clock::time_point now) {
  for (auto& [name, job] : jobs_) {
    if (!job.start_message || !job.start_repeats.IsDue(now)) continue;
    for (const std::int32_t node : job.not_ready) {
      static_cast<void>(SendTo(node, job.start_message));
    }
  }
}

}  // namespace tessera::agents
