// SPDX-License-Identifier: Apache-2.0
#include "agents/sim/process.h"

#include <utility>

namespace tessera::agents::sim {

void Process::Enter(const std::function<void()>& task) {
  try {
    task();
    return;
  } catch (const Crash&) {
  }
  const auto crashed = crashed_;
  crashed();
}

void Process::EnterLater(Time delay, std::function<void()> task) {
  world_.clock.After(delay,
                     [this, alive = std::weak_ptr<const bool>(alive_), task = std::move(task)] {
                       if (!alive.expired()) Enter(task);
                     });
}

Timers::TimerId Process::After(std::chrono::milliseconds delay, std::function<void()> task) {
  const TimerId timer = ++last_timer_;
  timers_.insert(timer);
  EnterLater(delay.count(), [this, timer, task = std::move(task)] {
    if (timers_.erase(timer) > 0) task();
  });
  return timer;
}

Timers::TimerId Process::Every(std::chrono::milliseconds period, std::function<void()> task) {
  const TimerId timer = ++last_timer_;
  timers_.insert(timer);
  Repeat(timer, period, std::make_shared<const std::function<void()>>(std::move(task)));
  return timer;
}

void Process::Repeat(TimerId timer, std::chrono::milliseconds period,
                     const std::shared_ptr<const std::function<void()>>& task) {
  EnterLater(period.count(), [this, timer, period, task] {
    if (!timers_.contains(timer)) return;
    Repeat(timer, period, task);
    (*task)();
  });
}

}  // namespace tessera::agents::sim
