// SPDX-License-Identifier: Apache-2.0
#include "agents/move/file_reads.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace tessera::agents {
namespace {

Error CancelledReads() { return Cancelled("the transfer was cancelled"); }

struct FileReadRun {
  ReadGate gate;
  std::mutex mutex;
  std::condition_variable_any ended;
  std::optional<Status> result;  // guarded by mutex
  std::jthread thread;           // last: it uses all of the above
};

}  // namespace

Status ReadGate::Use(const std::function<Status()>& use) {
  const std::shared_lock lock(mutex_);
  if (is_closed_) return CancelledReads();
  return use();
}

void ReadGate::Close() {
  const std::unique_lock lock(mutex_);
  is_closed_ = true;
}

Status RunFileReads(const std::stop_token& stop, Disposal& left,
                    std::function<Status(ReadGate& gate, const std::stop_token& stop)> reads) {
  auto run = std::make_shared<FileReadRun>();
  run->thread = std::jthread(
      [raw = run.get(), reads = std::move(reads)](const std::stop_token& stop_reads) {
        Status status = reads(raw->gate, stop_reads);
        const std::lock_guard lock(raw->mutex);
        raw->result = std::move(status);
        raw->ended.notify_all();
      });
  {
    std::unique_lock lock(run->mutex);
    if (run->ended.wait(lock, stop, [&] { return run->result.has_value(); })) {
      return std::move(*run->result);
    }
  }
  run->thread.request_stop();
  run->gate.Close();
  left.Take(std::move(run));
  return CancelledReads();
}

}  // namespace tessera::agents
