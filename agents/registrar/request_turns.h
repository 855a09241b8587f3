// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Requests that take the registrar's worker a while: plans, proposals, what the history holds.

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "agents/net/timers.h"
#include "ptc/base/result.h"

namespace tessera::agents {

/// The worker computes one after the other. So that a key which asks for much keeps itself waiting
/// and nobody else, a few requests of each key are under way, and the others wait for their turn.
///
/// \threadsafety The thread of the timers.
class RequestTurns {
 public:
  static constexpr int kAtOnce = 4;
  static constexpr std::size_t kMostWaiting = 200;
  /// The turn ends with the last copy.
  using Turn = std::shared_ptr<void>;
  using Run = std::function<void(Turn turn)>;

  explicit RequestTurns(Timers& timers) : state_(std::make_shared<State>(timers)) {}

  /// Calls `run`, now or when an earlier turn of the key ends.
  /// \error kResourceExhausted if too many wait; `run` is not called then
  Status Take(const std::string& key, Run run);

 private:
  struct OfKey {
    int under_way = 0;
    std::deque<Run> waiting;
  };
  struct State {
    explicit State(Timers& of) : timers(of) {}
    Timers& timers;
    std::map<std::string, OfKey> keys;
  };
  static void Begin(const std::shared_ptr<State>& state, const std::string& key, const Run& run);
  static void End(const std::shared_ptr<State>& state, const std::string& key);

  std::shared_ptr<State> state_;
};

}  // namespace tessera::agents
