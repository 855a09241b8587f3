// SPDX-License-Identifier: Apache-2.0
#include "agents/net/worker.h"

#include <utility>

namespace tessera::agents {

Worker::Worker(Timers& timers)
    : timers_(timers), thread_([this](const std::stop_token& stop) { Work(stop); }) {}

Worker::~Worker() { *alive_ = false; }

void Worker::Run(std::function<void()> work, std::function<void()> then) {
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back({std::move(work), std::move(then)});
  }
  changed_.notify_one();
}

void Worker::Work(const std::stop_token& stop) {
  for (;;) {
    Task task;
    {
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, stop, [this] { return !tasks_.empty(); })) return;
      if (stop.stop_requested()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    task.work();
    timers_.Post([alive = alive_, then = std::move(task.then)] {
      if (*alive) then();
    });
  }
}

}  // namespace tessera::agents
