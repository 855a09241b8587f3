// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Cuts the output of a process into lines, bounded in length and rate.

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace tessera::agents {

/// Lines have no newline and are valid UTF-8; a control character becomes '?', a tab a space.
/// Lines above kMaxLineBytes are cut and end in "…". Lines above the rate are dropped and counted;
/// "(N lines dropped)" precedes the next line that passes.
class LineSplitter {
 public:
  static constexpr std::size_t kMaxLineBytes = 4096;
  static constexpr int kBurst = 500;           // lines in one burst
  static constexpr int kLinesPerSecond = 100;  // lasting rate
  using Clock = std::chrono::steady_clock;
  using Emit = std::function<void(std::string)>;

  void Add(std::string_view bytes, Clock::time_point now, const Emit& emit);
  /// Emits the count of dropped lines and an unfinished line.
  void Flush(const Emit& emit);

 private:
  void EndLine(Clock::time_point now, const Emit& emit);
  void EmitDropped(const Emit& emit);

  std::string line_;
  bool cut_ = false;  // the rest of this line is skipped
  double allowance_ = kBurst;
  Clock::time_point last_{};
  long dropped_ = 0;
};

}  // namespace tessera::agents
