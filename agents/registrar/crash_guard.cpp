// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/crash_guard.h"

namespace tessera::agents {

bool CrashGuard::Note(std::int64_t step, RankEnd end) {
  if (end == RankEnd::kRefusal) return false;
  steps_.push_back(step);
  if (steps_.size() > kMostCrashes) steps_.pop_front();
  return steps_.size() < kMostCrashes || steps_.back() - steps_.front() > kWithinSteps;
}

}  // namespace tessera::agents
