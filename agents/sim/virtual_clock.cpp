// SPDX-License-Identifier: Apache-2.0
#include "agents/sim/virtual_clock.h"

#include <algorithm>

namespace tessera::agents::sim {

void VirtualClock::After(Time delay, std::function<void()> then) {
  events_.emplace(std::pair{now_ + std::max<Time>(delay, 0), next_++}, std::move(then));
}

bool VirtualClock::RunNext(Time end) {
  const auto first = events_.begin();
  if (first == events_.end() || first->first.first > end) {
    now_ = end;
    return false;
  }
  now_ = first->first.first;
  const auto then = std::move(first->second);
  events_.erase(first);
  then();
  return true;
}

}  // namespace tessera::agents::sim
