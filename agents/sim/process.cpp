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
                       if (!alive.expired()) Deliver(task);
                     });
}

void Process::Deliver(std::function<void()> task) {
  if (!is_blocked() && waiting_.empty()) return Enter(task);
  waiting_.push_back(std::move(task));
}

void Process::Block(Time length) {
  blocked_until_ = std::max(blocked_until_, world_.clock.now()) + length;
  world_.clock.After(blocked_for(), [this, alive = std::weak_ptr<const bool>(alive_)] {
    if (!alive.expired()) RunWaiting();
  });
}

void Process::RunWaiting() {
  const std::weak_ptr<const bool> alive = alive_;
  while (!alive.expired() && !is_blocked() && !waiting_.empty()) {
    const auto task = std::move(waiting_.front());
    waiting_.pop_front();
    Enter(task);
  }
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
