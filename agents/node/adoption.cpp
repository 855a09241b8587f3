// SPDX-License-Identifier: Apache-2.0
#include "agents/node/adoption.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "agents/job/rank_links.h"
#include "agents/node/peers.h"
#include "engine/model/gpt.h"

namespace tessera::agents {

void Adoption::Flip(std::int64_t step) {
  const wire::Prepare& p = change_.prepare();
  for (const auto& [id, table] : change_.next()) {
    DeviceStore::Device& device = *devices_.Find(id);
    if (device.table && device.table->job() == p.job() && device.table->epoch() >= p.epoch())
      continue;
    devices_.Flip(device, table, p.timeline(), step, HasUpdate(device, step));
  }
  if (!flipped_) flipped_ = timers_.now();
  if (!jobs_.LocalOf(change_.to()).empty()) is_job_journaled_ = List(p.epoch());
}

bool Adoption::List(std::int64_t epoch) {
  const wire::Prepare& p = change_.prepare();
  const HeldJobs::Job* old = jobs_.Find(p.job());
  HeldJobs::Job job{
      .name = p.job(),
      .row = {p.settings(), change_.to(), epoch, p.timeline(), p.origin(), p.micro_batch()},
      .resumed_through = old ? old->resumed_through : 0};
  const bool is_journaled = jobs_.Journal(job).has_value();
  jobs_.Put(std::move(job));
  return is_journaled;
}

void Adoption::ListLeft(int rounds) {
  if (devices_.Of(change_.prepare().job()).empty()) return;
  List(change_.EpochAfter(rounds));
}

// The words of the control page outlive this agent, so a restarted one finds the same.
bool Adoption::HasUpdate(const DeviceStore::Device& device, std::int64_t step) const {
  const engine::ArenaHeader& words = device.arena->header();
  const auto next = static_cast<std::uint64_t>(step) + 1;
  return change_.prepare().precopy() && words.grads_step.load() == next &&
         words.decision_step.load() == next;
}

bool Adoption::Send() {
  const wire::Prepare& p = change_.prepare();
  const std::vector<ptc::DeviceId> local = jobs_.LocalOf(change_.to());
  for (const ptc::DeviceId device : local) {
    const auto& table = devices_.devices().at(device).table;
    if (!table || table->job() != p.job() || table->epoch() < p.epoch()) return false;
  }
  for (const ptc::DeviceId device : local) {
    const RankTable::Rank* rank = ranks_.Find({p.job(), device});
    if (!rank || rank->current_epoch >= p.epoch()) continue;
    const RankView view = ViewOf(change_.to(), *change_.to().mesh().RankOf(device), p.epoch(),
                                 p.attempt(), p.micro_batch(), p.peers());
    static_cast<void>(links_.ranks->SendCommand(rank->id, RankCommand::kAdopt, p.epoch(), &view));
  }
  return true;
}

bool Adoption::Complete() {
  const wire::Prepare& p = change_.prepare();
  // A restarted agent has not followed the outcome before it has flipped, and noted so, itself.
  if (!flipped_) return false;
  const std::vector<ptc::DeviceId> local = jobs_.LocalOf(change_.to());
  for (const ptc::DeviceId device : local) {
    // A dead rank is not waited for. The commit stands, and the job fails after it.
    const RankTable::Rank* rank = ranks_.Find({p.job(), device});
    if (rank && rank->current_epoch < p.epoch()) return false;
  }
  // Until then the transaction must not be forgotten: the next agent flips again.
  const HeldJobs::Job* job = jobs_.Find(p.job());
  const bool stays = job && !local.empty();
  if (stays && !is_job_journaled_) is_job_journaled_ = jobs_.Journal(*job).has_value();
  return !stays || is_job_journaled_;
}

void Adoption::FailLateRanks() {
  if (!flipped_) return;
  const wire::Prepare& p = change_.prepare();
  const auto settings = engine::ParseJobSettings(p.settings());
  const bool is_given = settings && settings->collective_timeout > 0;
  const auto patience = is_given ? std::chrono::seconds(settings->collective_timeout) : kToAdopt;
  if (timers_.now() - *flipped_ < patience) return;
  for (const ptc::DeviceId device : jobs_.LocalOf(change_.to())) {
    const RankTable::Rank* rank = ranks_.Find({p.job(), device});
    if (!rank || rank->current_epoch >= p.epoch()) continue;
    uplink_.ReportEvent(
        engine::Severity::kWarning, p.job(),
        fmt::format("the rank on {} has not adopted epoch {} within {} s: it is killed",
                    ToString(device), p.epoch(), patience.count()));
    ranks_.Fail(*rank);
  }
}

}  // namespace tessera::agents
