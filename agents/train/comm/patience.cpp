// SPDX-License-Identifier: Apache-2.0
#include "agents/train/comm/patience.h"

#include <algorithm>

#include "ptc/base/median.h"

namespace tessera::agents::train {
namespace {

constexpr std::size_t kFewest = 3;  // steps until the limit follows from them
constexpr std::size_t kMost = 32;

}  // namespace

void Patience::Note(std::chrono::duration<double> step) {
  if (is_fixed_) return;
  recent_.push_back(step.count());
  if (recent_.size() > kMost) recent_.pop_front();
  if (recent_.size() < kFewest) return;
  const std::chrono::duration<double> wanted(kSteps *
                                             UpperMedian({recent_.begin(), recent_.end()}));
  limit_ = std::max(kLeast, std::chrono::ceil<Milliseconds>(wanted));
}

}  // namespace tessera::agents::train
