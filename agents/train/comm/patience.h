// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// How long a collective waits for the other ranks.

#include <atomic>
#include <chrono>
#include <deque>

namespace tessera::agents::train {

/// A rank that hangs should be found soon, but a rank that is only slow must not be taken for one
/// that hangs. So the limit follows from the length of the steps: 20 median steps, at least 30 s.
/// Before a few steps are known it is 10 minutes, because the first step may take any time.
/// \threadsafety Any thread may call limit(), one thread Note().
class Patience {
 public:
  using Milliseconds = std::chrono::milliseconds;
  static constexpr Milliseconds kLeast = std::chrono::seconds(30);
  static constexpr Milliseconds kAtFirst = std::chrono::minutes(10);
  static constexpr int kSteps = 20;

  Patience() = default;
  /// Always `fixed`, unless it is 0.
  explicit Patience(Milliseconds fixed) : is_fixed_(fixed.count() > 0) {
    if (is_fixed_) limit_ = fixed;
  }
  /// Notes how long a step took.
  void Note(std::chrono::duration<double> step);
  Milliseconds limit() const { return limit_; }

 private:
  const bool is_fixed_ = false;
  std::deque<double> recent_;  // seconds
  std::atomic<Milliseconds> limit_ = kAtFirst;
};

}  // namespace tessera::agents::train
