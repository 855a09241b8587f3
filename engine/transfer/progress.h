// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// How far a transfer is, how fast, and how long it will still take.

#include <chrono>
#include <cstdint>
#include <optional>

namespace tessera::engine {

/// Bytes done and an exponentially weighted mean rate with a time constant of 5 s, corrected for
/// the part of the window before the start. Time is an argument and does not go back. One thread.
class Progress {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::seconds kTimeConstant{5};

  Progress(std::int64_t bytes_total, Time start);

  /// `bytes_done` counts from the start of the transfer. \pre 0 <= bytes_done <= bytes_total()
  void Update(std::int64_t bytes_done, Time now);

  std::int64_t bytes_done() const { return bytes_done_; }
  std::int64_t bytes_total() const { return bytes_total_; }
  /// Bytes a second; a transfer that stands still falls towards 0 without updates.
  double Rate(Time now) const;
  /// Seconds left. Empty before 2 s or 2 % of the bytes, whichever is first, and while the rate is
  /// 0.
  std::optional<double> Eta(Time now) const;

 private:
  std::int64_t bytes_total_;
  std::int64_t bytes_done_ = 0;
  Time start_;
  Time last_;                 // up to when mean_ counts
  std::int64_t counted_ = 0;  // bytes that mean_ counts
  double mean_ = 0;           // not yet corrected, bytes a second
};

}  // namespace tessera::engine
