// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// How long a call has waited for other ranks.

#include <algorithm>
#include <chrono>

namespace tessera::agents::train {

/// Adds up the time between the looks of a rank that waits. A rank that could not look for long was
/// stopped itself, or its whole machine was: that says nothing about the others, so of each gap at
/// most kLongestGap counts.
class Waiting {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kLongestGap{100};

  explicit Waiting(std::chrono::milliseconds limit) : limit_(limit) {}
  /// To be called after a look that found nothing new.
  /// \return whether the limit has passed
  bool IsOver() {
    const Clock::time_point now = Clock::now();
    waited_ += std::min<Clock::duration>(now - looked_, kLongestGap);
    looked_ = now;
    return waited_ >= limit_;
  }
  std::chrono::milliseconds limit() const { return limit_; }

 private:
  const std::chrono::milliseconds limit_;
  Clock::time_point looked_ = Clock::now();
  Clock::duration waited_{};
};

}  // namespace tessera::agents::train
