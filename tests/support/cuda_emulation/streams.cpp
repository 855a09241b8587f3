// SPDX-License-Identifier: Apache-2.0
#include "tests/support/cuda_emulation/streams.h"

#include <algorithm>
#include <utility>

namespace tessera::test::cuda_emulation {

Stream::Stream(int device, std::chrono::microseconds latency)
    : device_(device), latency_(latency), thread_([this] { Run(); }) {}

Stream::~Stream() {
  Wait(added());
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Stream::Add(Work work) {
  const std::lock_guard lock(mutex_);
  work_.push_back(std::move(work));
  ++added_;
}

std::int64_t Stream::added() const {
  const std::lock_guard lock(mutex_);
  return added_;
}

void Stream::Demand(std::int64_t count) {
  {
    const std::lock_guard lock(mutex_);
    demanded_ = std::max(demanded_, count);
  }
  changed_.notify_all();
}

bool Stream::HasDone(std::int64_t count) const {
  const std::lock_guard lock(mutex_);
  return done_ >= count;
}

cuda::Code Stream::Wait(std::int64_t count) {
  Demand(count);
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return done_ >= count; });
  return error_;
}

void Stream::Run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return ends_ || done_ < demanded_; });
    if (done_ == demanded_) return;
    const Work work = std::move(work_.front());
    work_.pop_front();
    // A failed context carries out nothing more.
    const bool runs = error_ == cuda::kSuccess;
    lock.unlock();
    if (latency_.count() > 0) std::this_thread::sleep_for(latency_);
    const cuda::Code code = runs ? work() : cuda::kSuccess;
    lock.lock();
    if (error_ == cuda::kSuccess) error_ = code;
    ++done_;
    changed_.notify_all();
  }
}

}  // namespace tessera::test::cuda_emulation
