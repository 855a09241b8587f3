// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Time, as parts without sockets see it: a loop has it from the machine's clock, the simulator
/// from a virtual one.

#include <chrono>
#include <cstdint>
#include <functional>

namespace tessera::agents {

/// \threadsafety All callbacks run on one thread. The members are for that thread, except Post.
class Timers {
 public:
  using Clock = std::chrono::steady_clock;
  using TimerId = std::uint64_t;

  Timers() = default;
  Timers(const Timers&) = delete;
  Timers& operator=(const Timers&) = delete;
  virtual ~Timers() = default;

  virtual Clock::time_point now() const = 0;
  /// Runs `task` once after `delay`. `Every` repeats it; after a delay of several periods the task
  /// runs once.
  virtual TimerId After(std::chrono::milliseconds delay, std::function<void()> task) = 0;
  virtual TimerId Every(std::chrono::milliseconds period, std::function<void()> task) = 0;
  /// Ignores a timer that has run. A callback may cancel anything, also itself.
  virtual void Cancel(TimerId timer) = 0;
  /// Runs `task` soon, in the order of posting. Any thread.
  virtual void Post(std::function<void()> task) = 0;
};

}  // namespace tessera::agents
