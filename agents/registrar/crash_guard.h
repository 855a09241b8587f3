// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Whether a job whose ranks ended is worth another start.

#include <cstdint>
#include <deque>

namespace tessera::agents {

/// How the ranks of a job ended.
enum class RankEnd {
  kCrash,    // another start may help
  kRefusal,  // another start fails in the same way
};

/// A job that crashes at the same place again and again is not started for ever.
class CrashGuard {
 public:
  static constexpr std::size_t kMostCrashes = 3;
  static constexpr std::int64_t kWithinSteps = 10;

  /// Notes that ranks ended after `step`.
  /// \return whether to start again: not after a refusal, nor the third crash within ten steps
  bool Note(std::int64_t step, RankEnd end);
  /// Someone asked for another start.
  void Forgive() { steps_.clear(); }

 private:
  std::deque<std::int64_t> steps_;  // of the last crashes
};

}  // namespace tessera::agents
