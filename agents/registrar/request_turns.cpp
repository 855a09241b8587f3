// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/request_turns.h"

#include <fmt/format.h>

#include <utility>

namespace tessera::agents {

Status RequestTurns::Take(const std::string& key, Run run) {
  OfKey& own = state_->keys[key];
  if (own.under_way < kAtOnce) {
    Begin(state_, key, run);
    return OkStatus();
  }
  if (own.waiting.size() >= kMostWaiting) {
    return ResourceExhausted(
        fmt::format("{} requests of key '{}' wait already", kMostWaiting, key));
  }
  own.waiting.push_back(std::move(run));
  return OkStatus();
}

void RequestTurns::Begin(const std::shared_ptr<State>& state, const std::string& key,
                         const Run& run) {
  ++state->keys[key].under_way;
  // Requests may outlive the registrar that they were made to.
  run(Turn(nullptr, [weak = std::weak_ptr(state), key](std::nullptr_t) {
    const auto strong = weak.lock();
    if (!strong) return;
    // Not here: whoever ends a turn is in the middle of something.
    strong->timers.Post([weak, key] {
      if (const auto later = weak.lock()) End(later, key);
    });
  }));
}

void RequestTurns::End(const std::shared_ptr<State>& state, const std::string& key) {
  const auto own = state->keys.find(key);
  --own->second.under_way;
  if (own->second.waiting.empty()) {
    if (own->second.under_way == 0) state->keys.erase(own);
    return;
  }
  const Run next = std::move(own->second.waiting.front());
  own->second.waiting.pop_front();
  Begin(state, key, next);
}

}  // namespace tessera::agents
