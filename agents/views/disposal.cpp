// SPDX-License-Identifier: Apache-2.0
#include "agents/views/disposal.h"

#include <utility>

#include "agents/views/background.h"

namespace tessera::agents {

Disposal::Disposal() : thread_([this](const std::stop_token& stop) { Run(stop); }) {}

Disposal::~Disposal() = default;

void Disposal::Take(std::shared_ptr<const void> object) {
  const std::lock_guard lock(mutex_);
  objects_.push_back(std::move(object));
  given_.notify_one();
}

void Disposal::Run(const std::stop_token& stop) {
  RunInBackground();
  std::unique_lock lock(mutex_);
  while (given_.wait(lock, stop, [this] { return !objects_.empty(); })) {
    auto objects = std::exchange(objects_, {});
    lock.unlock();
    objects.clear();
    lock.lock();
  }
}

}  // namespace tessera::agents
