// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A rate that may be exceeded for a moment.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

namespace tessera::agents {

/// Passes `burst` at once, and then `per_second`. Counts what it does not pass.
/// \threadsafety One thread.
class Allowance {
 public:
  using Clock = std::chrono::steady_clock;
  Allowance(double burst, double per_second)
      : burst_(burst), per_second_(per_second), left_(burst) {}

  bool Take(Clock::time_point now) {
    const std::chrono::duration<double> passed = now - filled_;
    left_ = std::min(burst_, left_ + std::max(0.0, passed.count()) * per_second_);
    filled_ = now;
    const bool passes = left_ >= 1;
    if (passes) {
      left_ -= 1;
    } else {
      ++dropped_;
    }
    return passes;
  }
  /// Returns how many did not pass since the last call.
  std::int64_t TakeDropped() { return std::exchange(dropped_, 0); }

 private:
  double burst_, per_second_, left_;
  Clock::time_point filled_{};
  std::int64_t dropped_ = 0;
};

}  // namespace tessera::agents
