// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/rendezvous.h"

#include <algorithm>
#include <iterator>

#include "agents/wire/tessera/wire/node.pb.h"

namespace tessera::agents {

Rendezvous::Store& Rendezvous::At(Key key) {
  const std::string job = std::get<0>(key);
  Store& store = stores_[std::move(key)];
  const auto first = stores_.lower_bound({job, 0, 0});
  const auto is_of_job = [&](const auto& entry) { return std::get<0>(entry.first) == job; };
  const auto end = std::find_if_not(first, stores_.end(), is_of_job);
  // Attempts increase, so the oldest is the first. An old attempt never displaces itself.
  if (std::distance(first, end) > kMostAttempts && &first->second != &store) {
    stores_.erase(first);
  }
  return store;
}

void Rendezvous::Set(const wire::StoreSet& m) {
  if (m.epoch() < 0 || m.attempt() < 0) return;
  Store& store = At({m.job(), m.epoch(), m.attempt()});
  const auto size = static_cast<std::int64_t>(m.key().size() + m.value().size());
  if (store.values.size() >= kMostKeys || store.bytes + size > kMostBytes) return;
  const auto [value, is_new] = store.values.try_emplace(m.key());
  store.bytes +=
      is_new ? size : size - static_cast<std::int64_t>(m.key().size() + value->second.size());
  value->second = m.value();
  const auto [first, last] = store.waits.equal_range(m.key());
  for (auto it = first; it != last; ++it) {
    Answer(it->second.first, it->second.second, m.value());
    store.bytes -= static_cast<std::int64_t>(m.key().size());
  }
  store.waits.erase(first, last);
}

void Rendezvous::Get(std::int32_t node, const wire::StoreGet& m) {
  if (m.epoch() < 0 || m.attempt() < 0) return;
  Store& store = At({m.job(), m.epoch(), m.attempt()});
  const auto value = store.values.find(m.key());
  if (value != store.values.end()) return Answer(node, m.ticket(), value->second);
  const auto [first, last] = store.waits.equal_range(m.key());
  const std::pair wait(node, m.ticket());
  const bool known =
      std::any_of(first, last, [&](const auto& entry) { return entry.second == wait; });
  const auto size = static_cast<std::int64_t>(m.key().size());
  // Else the request is repeated.
  if (known || store.waits.size() >= kMostKeys || store.bytes + size > kMostBytes) return;
  store.waits.emplace(m.key(), wait);
  store.bytes += size;
}

void Rendezvous::Answer(std::int32_t node, std::uint64_t ticket, const std::string& value) {
  wire::ToNode answer;
  answer.mutable_store_value()->set_ticket(ticket);
  answer.mutable_store_value()->set_present(true);
  answer.mutable_store_value()->set_value(value);
  send_(node, answer);
}

void Rendezvous::Forget(const std::string& job) {
  std::erase_if(stores_, [&](const auto& entry) { return std::get<0>(entry.first) == job; });
}

void Rendezvous::Forget(const std::string& job, std::int64_t epoch, std::int64_t attempt) {
  stores_.erase({job, epoch, attempt});
}

}  // namespace tessera::agents
