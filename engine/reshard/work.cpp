// SPDX-License-Identifier: Apache-2.0
#include "engine/reshard/work.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace tessera::reshard {

Status RunPieces(std::int64_t count, int threads, const Meter& meter, const Watch& watch,
                 const std::function<Status(int worker, std::int64_t i)>& piece) {
  constexpr std::chrono::milliseconds kInterval{100};
  std::atomic<std::int64_t> next{0};
  std::atomic<bool> stop{false};
  std::mutex mutex;
  std::condition_variable ended;
  std::optional<Error> error;  // `error` and `running` are guarded by mutex
  int running = threads;

  const auto work = [&](int worker) {
    while (!stop) {
      const std::int64_t i = next++;
      if (i >= count) break;
      const Status done = piece(worker, i);
      if (done) continue;
      stop = true;
      const std::lock_guard lock(mutex);
      if (!error) error = done.error();
    }
    const std::lock_guard lock(mutex);
    --running;
    ended.notify_one();
  };
  const auto progress = [&] { return Progress{meter.bytes_done, meter.bytes_total}; };

  if (watch && !watch(progress())) return Cancelled("interrupted");
  bool asked_to_stop = false;
  {
    std::vector<std::jthread> workers;
    for (int worker = 0; worker < threads; ++worker) workers.emplace_back(work, worker);
    std::unique_lock lock(mutex);
    while (!ended.wait_for(lock, kInterval, [&] { return running == 0; })) {
      lock.unlock();
      if (watch && !asked_to_stop && !watch(progress())) asked_to_stop = stop = true;
      lock.lock();
    }
  }
  if (watch && !asked_to_stop) watch(progress());
  if (error) return *error;
  if (asked_to_stop && next < count) return Cancelled("interrupted");
  return OkStatus();
}

}  // namespace tessera::reshard
