// SPDX-License-Identifier: Apache-2.0
#include "engine/data/descriptor_pool.h"

#include <fcntl.h>

namespace tessera::engine {

std::uint64_t DescriptorPool::NewId() {
  const std::lock_guard lock(mutex_);
  return next_id_++;
}

DescriptorPool::DescriptorPtr DescriptorPool::Get(std::uint64_t id, const std::string& path) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = held_.find(id); found != held_.end()) {
      ages_.splice(ages_.begin(), ages_, found->second.age);
      return found->second.descriptor;
    }
  }
  // Opened without the lock, so that a slow file system does not block other threads.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  const int failure = errno;
  auto opened = std::make_shared<const Descriptor>(fd);
  if (!opened->ok()) {
    errno = failure;
    return opened;
  }
  DescriptorPtr closed;  // destroyed after the lock is released
  const std::lock_guard lock(mutex_);
  const auto [at, is_new] = held_.try_emplace(id);
  if (!is_new) return at->second.descriptor;  // another thread was faster
  ages_.push_front(id);
  at->second = {opened, ages_.begin()};
  if (held_.size() > limit_) {
    const auto oldest = held_.find(ages_.back());
    closed = std::move(oldest->second.descriptor);
    held_.erase(oldest);
    ages_.pop_back();
  }
  return opened;
}

void DescriptorPool::Close(std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  const auto found = held_.find(id);
  if (found == held_.end()) return;
  ages_.erase(found->second.age);
  held_.erase(found);
}

}  // namespace tessera::engine
