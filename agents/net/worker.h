// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A thread for what would keep a loop from its other work: plans, searches, queries of the
/// history, requests to other servers.

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>

#include "agents/net/timers.h"

namespace tessera::agents {

class Worker {
 public:
  /// The timers outlive the worker.
  explicit Worker(Timers& timers);
  /// Waits for the running task and drops the others. No `then` runs afterwards.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Runs `work` on the thread, one after the other, and then `then` on that of the timers.
  void Run(std::function<void()> work, std::function<void()> then);

 private:
  struct Task {
    std::function<void()> work, then;
  };
  void Work(const std::stop_token& stop);

  Timers& timers_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Task> tasks_;                                      // under the mutex
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // on the thread of the timers
  std::jthread thread_;
};

}  // namespace tessera::agents
