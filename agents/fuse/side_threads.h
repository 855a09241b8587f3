// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Threads for requests that may wait for data, so that other requests are answered meanwhile.

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace tessera::agents {

/// \threadsafety Any thread.
class SideThreads {
 public:
  /// The threads inherit the caller's signal mask.
  explicit SideThreads(int count);
  /// Waits until all posted work is done.
  /// \pre no further posts
  ~SideThreads();
  SideThreads(const SideThreads&) = delete;
  SideThreads& operator=(const SideThreads&) = delete;

  /// Runs `work`, which must not throw, on one of the threads. Work starts in the order of the
  /// posts.
  void Post(std::function<void()> work);

 private:
  void Run();

  std::mutex mutex_;
  std::condition_variable posted_;
  std::deque<std::function<void()>> waiting_;  // guarded by mutex_
  bool ending_ = false;                        // guarded by mutex_
  std::vector<std::jthread> threads_;
};

}  // namespace tessera::agents
