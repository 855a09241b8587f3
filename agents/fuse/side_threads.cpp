// SPDX-License-Identifier: Apache-2.0
#include "agents/fuse/side_threads.h"

#include <utility>

namespace tessera::agents {

SideThreads::SideThreads(int count) {
  for (int i = 0; i < count; ++i) threads_.emplace_back([this] { Run(); });
}

SideThreads::~SideThreads() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  posted_.notify_all();
  threads_.clear();
}

void SideThreads::Post(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(work));
  }
  posted_.notify_one();
}

void SideThreads::Run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    posted_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    const auto work = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    work();
    lock.lock();
  }
}

}  // namespace tessera::agents
