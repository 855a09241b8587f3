// SPDX-License-Identifier: Apache-2.0
#include "agents/node/change_ranks.h"

#include <algorithm>
#include <vector>

#include "agents/job/rank_links.h"
#include "agents/node/peers.h"

namespace tessera::agents {

bool ChangeRanks::AreAttaching() const {
  return std::ranges::any_of(jobs_.LocalOf(change_.to()), [&](ptc::DeviceId device) {
    const RankId id{change_.prepare().job(), device};
    const RankTable::Rank* const rank = ranks_.Find(id);
    const bool runs = rank && !rank->exit_expected && !change_.Joins(id);
    return runs && !links_.ranks->Find(id);
  });
}

Status ChangeRanks::Connect() {
  const wire::Prepare& p = change_.prepare();
  const ptc::Layout& to = change_.to();
  for (const ptc::DeviceId device : jobs_.LocalOf(to)) {
    const RankId id{p.job(), device};
    const int rank = *to.mesh().RankOf(device);
    if (change_.Joins(id)) {
      TESSERA_RETURN_IF_ERROR(starter_.Start({.job = p.job(),
                                              .settings = p.settings(),
                                              .layout = to,
                                              .epoch = p.epoch(),
                                              .attempt = p.attempt(),
                                              .micro_batch = p.micro_batch(),
                                              .peers = p.peers()},
                                             rank));
    } else {
      TESSERA_RETURN_IF_ERROR(links_.ranks->SendConnect(
          id, ViewOf(to, rank, p.epoch(), p.attempt(), p.micro_batch(), p.peers())));
    }
  }
  return OkStatus();
}

bool ChangeRanks::AreConnected() const {
  const wire::Prepare& p = change_.prepare();
  const std::vector<ptc::DeviceId> local = jobs_.LocalOf(change_.to());
  return std::all_of(local.begin(), local.end(), [&](ptc::DeviceId device) {
    const RankTable::Rank* rank = ranks_.Find({p.job(), device});
    return rank && rank->connected.contains({p.epoch(), p.attempt()});
  });
}

void ChangeRanks::Abandon() {
  const wire::Prepare& p = change_.prepare();
  links_.ranks->Abandon(p.job(), p.epoch(), p.attempt());
  for (auto& [id, rank] : ranks_.ranks()) {
    if (change_.Joins(id)) ranks_.Kill(rank);
  }
}

bool ChangeRanks::HasJoiners() const {
  return std::any_of(ranks_.ranks().begin(), ranks_.ranks().end(),
                     [&](const auto& entry) { return change_.Joins(entry.first); });
}

void ChangeRanks::Release(bool stay_paused) {
  const wire::Prepare& p = change_.prepare();
  for (auto& [id, rank] : ranks_.ranks()) {
    if (id.job != p.job()) continue;
    if (change_.to().mesh().RankOf(id.device)) {
      if (rank.adopted) static_cast<void>(links_.ranks->SendGo(id, p.epoch(), stay_paused));
      rank.adopted = false;
      continue;
    }
    ranks_.Retire(rank);
  }
  if (jobs_.LocalOf(change_.to()).empty()) jobs_.Erase(p.job());
}

}  // namespace tessera::agents
