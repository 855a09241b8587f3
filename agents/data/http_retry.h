// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// When to retry a request.

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <random>
#include <stop_token>

#include "agents/data/http_source.h"

namespace tessera::agents {

/// The attempts of one read: growing pauses with jitter, until a deadline.
/// \threadsafety One thread, which Pause stops.
class HttpRetry {
 public:
  using Clock = std::chrono::steady_clock;
  using Milliseconds = std::chrono::milliseconds;

  explicit HttpRetry(const HttpOptions& options)
      : pause_(options.first_pause),
        max_pause_(options.max_pause),
        end_(Clock::now() + options.deadline),
        cancel_(options.cancel) {}

  Milliseconds left() const {
    return std::max(Milliseconds(0), std::chrono::duration_cast<Milliseconds>(end_ - Clock::now()));
  }
  int attempts() const { return attempts_; }
  bool is_cancelled() const { return cancel_.stop_requested(); }
  /// Waits before the next attempt, for at least `wanted`.
  /// \return false, at once, if the deadline would pass meanwhile, or when cancelled
  bool Pause(Milliseconds wanted) {
    thread_local std::mt19937_64 random{std::random_device{}()};
    std::uniform_int_distribution<Milliseconds::rep> jitter(pause_.count() / 2, pause_.count());
    const Milliseconds pause = std::max(wanted, Milliseconds(jitter(random)));
    if (pause >= left()) return false;
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock(mutex);
    never.wait_for(lock, cancel_, pause, [] { return false; });
    if (is_cancelled()) return false;
    pause_ = std::min(max_pause_, 2 * pause_);
    ++attempts_;
    return true;
  }

 private:
  Milliseconds pause_;
  const Milliseconds max_pause_;
  const Clock::time_point end_;
  const std::stop_token cancel_;
  int attempts_ = 1;
};

}  // namespace tessera::agents
