// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// When something is sent again that nobody answers: the message or its answer may be lost.

#include <algorithm>
#include <chrono>

namespace tessera::agents {

/// After 4 s, 8 s, and so on: the answer may take long, and the message may be large.
class Repetition {
 public:
  using Time = std::chrono::steady_clock::time_point;

  Repetition() = default;
  /// It has just been sent.
  explicit Repetition(Time now) : at_(now + delay_) {}

  /// Whether to send it again now.
  bool IsDue(Time now) {
    if (now < at_) return false;
    delay_ = std::min(2 * delay_, kLongest);
    at_ = now + delay_;
    return true;
  }

 private:
  static constexpr std::chrono::seconds kLongest{60};
  std::chrono::seconds delay_{4};
  Time at_ = Time::max();
};

}  // namespace tessera::agents
