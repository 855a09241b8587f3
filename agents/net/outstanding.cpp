// SPDX-License-Identifier: Apache-2.0
#include "agents/net/outstanding.h"

#include <utility>

namespace tessera::agents {
namespace {

/// Uncounts its bytes when it is released.
struct Counted {
  std::shared_ptr<std::atomic<std::int64_t>> counter;
  std::int64_t bytes = 0;
  std::shared_ptr<void> owner;

  Counted(std::shared_ptr<std::atomic<std::int64_t>> of, std::int64_t size,
          std::shared_ptr<void> whose)
      : counter(std::move(of)), bytes(size), owner(std::move(whose)) {
    *counter += bytes;
  }
  ~Counted() { *counter -= bytes; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
};

}  // namespace

std::shared_ptr<void> Outstanding::Add(const std::string& peer, std::int64_t bytes,
                                       std::shared_ptr<void> owner) {
  if (peers_.size() >= kManyPeers) {
    std::erase_if(peers_, [](const auto& entry) { return *entry.second == 0; });
  }
  std::shared_ptr<Counter>& counter = peers_[peer];
  if (!counter) counter = std::make_shared<Counter>(0);
  const std::int64_t waiting = *counter;
  if (waiting > 0 && waiting + bytes > most_) return nullptr;
  return std::make_shared<Counted>(counter, bytes, std::move(owner));
}

std::int64_t Outstanding::waiting_for(const std::string& peer) const {
  const auto found = peers_.find(peer);
  return found == peers_.end() ? 0 : found->second->load();
}

}  // namespace tessera::agents
