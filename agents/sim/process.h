// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A simulated process: what runs in it ends with it, also in the middle of a call. It can be
/// blocked for a while.

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <set>

#include "agents/net/timers.h"
#include "agents/sim/sim_world.h"

namespace tessera::agents::sim {

/// Thrown where a process dies in the middle of what it does.
struct Crash {};

/// The timers of a process. Everything that runs in the process runs through Enter.
class Process : public Timers {
 public:
  /// \param crashed called after the process has died inside Enter; it may destroy the process
  Process(SimWorld& world, std::function<void()> crashed)
      : world_(world), crashed_(std::move(crashed)) {}

  /// Runs `task` now, in the process.
  void Enter(const std::function<void()>& task);
  /// Runs `task` as soon as the process is not blocked, after the tasks that wait for that.
  void Deliver(std::function<void()> task);
  /// Delivers `task` after `delay`, if the process still lives then.
  void EnterLater(Time delay, std::function<void()> task);
  /// From the end of the present task, the process does nothing for `length`.
  void Block(Time length);
  bool is_blocked() const { return blocked_for() > 0; }
  Time blocked_for() const { return std::max<Time>(blocked_until_ - world_.clock.now(), 0); }
  /// Lets the process die at the n-th point from now; 0: at none.
  void CrashAfter(Time points) { points_left_ = points; }
  /// The outside can see what was done until here.
  void Point() {
    if (points_left_ > 0 && --points_left_ == 0) throw Crash();
  }

  Clock::time_point now() const override { return world_.time_point(); }
  TimerId After(std::chrono::milliseconds delay, std::function<void()> task) override;
  TimerId Every(std::chrono::milliseconds period, std::function<void()> task) override;
  void Cancel(TimerId timer) override { timers_.erase(timer); }
  void Post(std::function<void()> task) override { EnterLater(0, std::move(task)); }

 private:
  void Repeat(TimerId timer, std::chrono::milliseconds period,
              const std::shared_ptr<const std::function<void()>>& task);
  void RunWaiting();

  SimWorld& world_;
  const std::function<void()> crashed_;
  Time points_left_ = 0;
  Time blocked_until_ = 0;
  std::deque<std::function<void()>> waiting_;  // until then
  std::set<TimerId> timers_;
  TimerId last_timer_ = 0;
  std::shared_ptr<const bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace tessera::agents::sim
