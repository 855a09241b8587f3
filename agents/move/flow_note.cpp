// SPDX-License-Identifier: Apache-2.0
#include "agents/move/flow_note.h"

#include <utility>

namespace tessera::agents {

void FlowNote::Retry(std::int64_t cell, std::string why) {
  const std::lock_guard lock(mutex_);
  retries_.insert_or_assign(cell, std::move(why));
  has_retries_ = true;
}

void FlowNote::Replace(std::string why) {
  const std::lock_guard lock(mutex_);
  replaced_ = std::move(why);
}

void FlowNote::Arrived(std::int64_t cell) {
  if (!has_retries_) return;  // nearly always
  const std::lock_guard lock(mutex_);
  retries_.erase(cell);
  has_retries_ = !retries_.empty();
}

std::string FlowNote::text() const {
  const std::lock_guard lock(mutex_);
  return retries_.empty() ? replaced_ : retries_.rbegin()->second;
}

}  // namespace tessera::agents
