// SPDX-License-Identifier: Apache-2.0
#include "agents/move/parallel.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace tessera::agents {

Status ForEachInParallel(std::size_t count, const std::stop_token& stop,
                         const std::function<Status(std::size_t)>& work) {
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> ended = false;
  std::mutex mutex;
  std::size_t failed = count;  // the smallest index that failed
  Status failure = OkStatus();
  const auto run = [&] {
    for (std::size_t i = next++; i < count && !ended; i = next++) {
      Status status = stop.stop_requested() ? Cancelled("the transfer was cancelled") : work(i);
      if (status) continue;
      ended = true;
      const std::lock_guard lock(mutex);
      if (i < failed) {
        failed = i;
        failure = std::move(status);
      }
    }
  };
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::jthread> threads;  // this thread works as well
  try {
    for (std::size_t t = 1; t < std::min(cores, count); ++t) threads.emplace_back(run);
  } catch (const std::system_error&) {
    // No more threads can be had: those that run do all of it.
  }
  run();
  threads.clear();
  return failure;
}

}  // namespace tessera::agents
