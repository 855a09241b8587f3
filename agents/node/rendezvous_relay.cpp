// SPDX-License-Identifier: Apache-2.0
#include "agents/node/rendezvous_relay.h"

#include <utility>
#include <vector>

namespace tessera::agents {

void RendezvousRelay::Set(wire::StoreSet set) {
  SendSet(set);
  const Key key{set.job(), set.epoch(), set.attempt(), set.key()};
  sets_.insert_or_assign(key, std::move(set));
}

void RendezvousRelay::Get(wire::StoreGet get, Reply reply) {
  const std::uint64_t ticket = ++last_ticket_;
  get.set_ticket(ticket);
  SendGet(get);
  waits_.emplace(ticket, Wait{std::move(get), std::move(reply)});
}

void RendezvousRelay::OnValue(const wire::StoreValue& value) {
  const auto found = waits_.find(value.ticket());
  if (found == waits_.end()) return;
  const Reply reply = std::move(found->second.reply);
  waits_.erase(found);
  reply(value.present() ? std::optional(value.value()) : std::nullopt);
}

void RendezvousRelay::Repeat() {
  for (const auto& [key, set] : sets_) SendSet(set);
  for (const auto& [ticket, wait] : waits_) SendGet(wait.get);
}

void RendezvousRelay::Forget(const std::string& job, std::int64_t attempt) {
  const auto is_over = [&](const auto& message) {
    return message.job() == job && message.attempt() <= attempt;
  };
  std::erase_if(sets_, [&](const auto& entry) { return is_over(entry.second); });
  std::vector<Reply> unanswered;
  std::erase_if(waits_, [&](auto& entry) {
    if (!is_over(entry.second.get)) return false;
    unanswered.push_back(std::move(entry.second.reply));
    return true;
  });
  for (const Reply& reply : unanswered) reply(std::nullopt);
}

void RendezvousRelay::SendSet(const wire::StoreSet& set) {
  wire::FromNode message;
  *message.mutable_store_set() = set;
  send_(std::move(message));
}

void RendezvousRelay::SendGet(const wire::StoreGet& get) {
  wire::FromNode message;
  *message.mutable_store_get() = get;
  send_(std::move(message));
}

}  // namespace tessera::agents
