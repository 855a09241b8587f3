// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// A thread that runs one task after another, for work that must not block the GUI thread.

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

namespace tessera::app {

/// The first task starts the thread. `post` may be called from any thread.
class TaskThread {
 public:
  /// Waits for the current task and drops the others.
  ~TaskThread() { stop(); }

  /// Does nothing after stop().
  void post(std::function<void()> task) {
    const std::lock_guard lock(m_mutex);
    if (m_stopped) return;
    m_tasks.push_back(std::move(task));
    if (!m_thread.joinable()) m_thread = std::jthread([this](std::stop_token s) { run(s); });
    m_wake.notify_one();
  }

  void stop() {
    {
      const std::lock_guard lock(m_mutex);
      m_stopped = true;
      m_tasks.clear();
    }
    m_thread.request_stop();
    if (m_thread.joinable()) m_thread.join();
  }

 private:
  void run(const std::stop_token& stop) {
    for (;;) {
      std::function<void()> task;
      {
        std::unique_lock lock(m_mutex);
        if (!m_wake.wait(lock, stop, [this] { return !m_tasks.empty(); })) return;
        task = std::move(m_tasks.front());
        m_tasks.pop_front();
      }
      task();
    }
  }

  std::mutex m_mutex;
  std::condition_variable_any m_wake;
  std::deque<std::function<void()>> m_tasks;
  bool m_stopped = false;
  std::jthread m_thread;
};

}  // namespace tessera::app
