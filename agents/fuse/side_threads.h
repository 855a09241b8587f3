// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A few threads for requests that may wait for data, so that all others are answered meanwhile.

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
  /// They inherit the signals that the caller blocks.
  explicit SideThreads(int count);
  /// When all that was posted is done. \pre nobody posts any more
  ~SideThreads();
  SideThreads(const SideThreads&) = delete;
  SideThreads& operator=(const SideThreads&) = delete;

  /// Runs `work`, which throws nothing, on one of the threads, in the order of the posts.
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
