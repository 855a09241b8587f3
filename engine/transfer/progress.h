// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Bytes done, rate and remaining time of a transfer.

#include <chrono>
#include <cstdint>
#include <optional>

namespace tessera::engine {

/// The rate is an exponentially weighted mean with a time constant of 5 s, corrected for the part
/// of the window before the start. Time is an argument and never decreases.
/// \threadsafety One thread at a time.
class Progress {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::seconds kTimeConstant{5};

  Progress(std::int64_t bytes_total, Time start);

  /// `bytes_done` counts from the start of the transfer.
  /// \pre 0 <= bytes_done <= bytes_total()
  void Update(std::int64_t bytes_done, Time now);

  std::int64_t bytes_done() const { return bytes_done_; }
  std::int64_t bytes_total() const { return bytes_total_; }
  /// Bytes per second. Falls towards 0 while no update comes.
  double Rate(Time now) const;
  /// Seconds left. nullopt until 2 s or 2 % of the bytes have passed, whichever is first, and while
  /// the rate is 0.
  std::optional<double> Eta(Time now) const;
  /// Eta at the rate plus and minus two standard errors of it, which follow from how the rates of
  /// single updates vary. The slow end is at most four times Eta.
  struct Range {
    double least = 0, most = 0;
  };
  std::optional<Range> EtaRange(Time now) const;

 private:
  std::int64_t bytes_total_;
  std::int64_t bytes_done_ = 0;
  Time start_;
  Time last_;                 // mean_ covers the time until here
  std::int64_t counted_ = 0;  // bytes that mean_ covers
  double mean_ = 0;           // bytes per second, before the correction
  double variance_ = 0;       // of the rates of updates around the mean
  double squares_ = 0;        // the sum of the squared weights of updates in mean_
};

}  // namespace tessera::engine
