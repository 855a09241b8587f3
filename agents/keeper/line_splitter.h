// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Cuts what a process writes into lines, bounded in length and rate.

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace tessera::agents {

/// Lines come without their newline, as valid UTF-8; control characters become '?', a tab a space.
/// Longer lines than kMaxLineBytes are cut and end in "…". Above the rate lines are dropped and
/// counted: the next line that passes is preceded by "(N lines dropped)".
class LineSplitter {
 public:
  static constexpr std::size_t kMaxLineBytes = 4096;
  static constexpr int kBurst = 500;           // lines that may come at once
  static constexpr int kLinesPerSecond = 100;  // lines that may come for ever
  using Clock = std::chrono::steady_clock;
  using Emit = std::function<void(std::string)>;

  void Add(std::string_view bytes, Clock::time_point now, const Emit& emit);
  /// What is left: an unfinished line and the count of dropped ones.
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
