// SPDX-License-Identifier: Apache-2.0
#include "agents/node/rank_events.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/node.pb.h"
#include "agents/wire/utf8.h"

namespace tessera::agents {

RankLinks::Handlers RankEvents::handlers() {
  RankLinks::Handlers h;
  h.expects = [this](const RankId& id, std::int64_t pid) { return Expects(id, pid); };
  h.attached = [this](const RankId& id, std::int64_t) { OnAttached(id); };
  h.connected = [this](const RankId& id, std::int64_t epoch, std::int64_t attempt,
                       const Status& status) {
    OnConnected(id, {epoch, attempt}, status);
  };
  h.loading = [this](const RankId& id, const RankLoading& loading) { OnLoading(id, loading); };
  h.paused = [this](const RankId& id, std::int64_t step, std::uint64_t request,
                    const std::string& reason) {
    OnPaused(id, {step, request, reason});
  };
  h.decided = [this](const RankId& id, const RankDecision& decision) { OnDecided(id, decision); };
  h.adopted = [this](const RankId& id, std::int64_t epoch) { OnAdopted(id, epoch); };
  h.store_set = [this](const RankId& id, std::int64_t epoch, std::int64_t attempt,
                       const std::string& key, const std::string& value) {
    wire::StoreSet set;
    set.set_job(id.job);
    set.set_epoch(epoch);
    set.set_attempt(attempt);
    set.set_key(Utf8(key));
    set.set_value(value);
    world_.rendezvous.Set(std::move(set));
  };
  h.store_get = [this](const RankId& id, std::int64_t epoch, std::int64_t attempt,
                       const std::string& key, RendezvousRelay::Reply reply) {
    wire::StoreGet get;
    get.set_job(id.job);
    get.set_epoch(epoch);
    get.set_attempt(attempt);
    get.set_key(Utf8(key));
    world_.rendezvous.Get(std::move(get), std::move(reply));
  };
  return h;
}

void RankEvents::RetireLeft() {
  for (auto& [id, rank] : world_.ranks.ranks()) {
    if (HasLeft(id)) world_.ranks.Retire(rank);
  }
}

bool RankEvents::HasLeft(const RankId& id) const {
  if (world_.transactions.Changes(id.job)) return false;
  const DeviceStore::Device* device = world_.devices.Find(id.device);
  return !device || !device->table || device->table->job() != id.job;
}

bool RankEvents::Expects(const RankId& id, std::int64_t pid) {
  if (world_.ranks.Is(id, pid, world_.machine.process_group(pid))) return true;
  if (strangers_.insert(pid).second) {
    world_.uplink.ReportNodeEvent(engine::Severity::kWarning,
                                  fmt::format("refused process {}: it says that it is {} of '{}'",
                                              pid, ToString(id.device), id.job));
  }
  return false;
}

void RankEvents::OnAttached(const RankId& id) {
  // Its state may have changed while no agent ran.
  const auto state = world_.links.ranks->Find(id);
  if (RankTable::Rank* rank = world_.ranks.Find(id); rank && state) {
    rank->current_epoch = state->epoch;
  }
  world_.transactions.OnRankAttached(id);
}

void RankEvents::OnConnected(const RankId& id, const Attempt& reached, const Status& status) {
  RankTable::Rank* rank = world_.ranks.Find(id);
  if (!rank) return;
  // A rank that stays through many changes does not return to the attempts before them.
  std::erase_if(rank->connected, [oldest = Attempt{rank->current_epoch, 0}](const auto& entry) {
    return entry.first < oldest;
  });
  rank->connected[reached] = status.has_value();
  if (status) return world_.transactions.OnRankConnected(id, reached, status);
  Error error = status.error();
  error.message = Utf8(error.message);  // has the job's own words
  world_.transactions.OnRankConnected(id, reached, std::move(error));
}

void RankEvents::OnLoading(const RankId& id, const RankLoading& loading) {
  wire::FromNode message;
  auto* load = message.mutable_load();
  load->set_job(id.job);
  Encode(id.device, load->mutable_device());
  load->set_done(loading.done);
  load->set_total(loading.total);
  world_.uplink.Send(std::move(message));
}

void RankEvents::OnPaused(const RankId& id, RankTable::Pause pause) {
  RankTable::Rank* rank = world_.ranks.Find(id);
  if (!rank) return;
  world_.pauses.Note(*rank, std::move(pause));
  if (world_.transactions.Changes(id.job)) return world_.transactions.OnRankPaused(id);
  if (HasLeft(id)) return world_.ranks.Retire(*rank);
  world_.pauses.Follow(*rank);
}

void RankEvents::OnDecided(const RankId& id, const RankDecision& decision) {
  if (RankTable::Rank* rank = world_.ranks.Find(id)) world_.ranks.NoteStep(*rank, decision.busy);
  world_.steps.OnDecided(id, decision);
  world_.transactions.OnRankDecided(id.job);
}

void RankEvents::OnAdopted(const RankId& id, std::int64_t epoch) {
  RankTable::Rank* rank = world_.ranks.Find(id);
  if (!rank) return;
  rank->current_epoch = epoch;
  rank->adopted = true;
  rank->busy.clear();  // its share of the work is another
  rank->paused.reset();
  if (world_.transactions.OnRankAdopted(id, epoch)) return;
  // The rank was disconnected when the others received Go.
  const HeldJobs::Job* job = world_.jobs.Find(id.job);
  if (job && job->row.epoch == epoch) {
    rank->adopted = false;
    static_cast<void>(world_.links.ranks->SendGo(id, epoch, false));
  }
}

}  // namespace tessera::agents
