// SPDX-License-Identifier: Apache-2.0
#include "agents/train/comm/patience.h"

#include <algorithm>
#include <vector>

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
  std::vector<double> sorted(recent_.begin(), recent_.end());
  const auto middle = sorted.begin() + std::ssize(sorted) / 2;
  std::nth_element(sorted.begin(), middle, sorted.end());
  const std::chrono::duration<double> wanted(kSteps * *middle);
  limit_ = std::max(kLeast, std::chrono::ceil<Milliseconds>(wanted));
}

}  // namespace tessera::agents::train
