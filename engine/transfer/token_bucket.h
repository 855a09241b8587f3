// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Emulates a port of limited rate with the virtual scheduling form of the generic cell rate
/// algorithm (ITU-T I.371, annex A): the state of the bucket is the time at which it is empty.

#include <chrono>
#include <cstdint>
#include <mutex>

namespace tessera::engine {

/// Shared by all lanes of one direction of a port. A full-duplex port is two buckets.
/// Time is an argument; times from different threads may be slightly out of order.
/// \threadsafety Any thread.
class TokenBucket {
 public:
  using Time = std::chrono::steady_clock::time_point;
  /// No reservation waits longer, however large it is.
  static constexpr std::chrono::hours kLongestWait{24 * 365};

  /// \param bytes_per_second 0: no limit
  /// \param burst_bytes pass at once after a rest of burst_bytes / bytes_per_second. The bucket
  ///     starts full.
  /// \pre bytes_per_second >= 0 && burst_bytes >= 0
  TokenBucket(std::int64_t bytes_per_second, std::int64_t burst_bytes);

  /// Reserves `bytes`. Reservations queue: each waits for all earlier ones.
  /// \return how long to wait from `now` before the bytes are sent, at most kLongestWait
  /// \pre bytes >= 0
  std::chrono::nanoseconds Take(std::int64_t bytes, Time now);

  std::int64_t bytes_per_second() const { return bytes_per_second_; }

 private:
  const std::int64_t bytes_per_second_;
  const std::chrono::nanoseconds burst_time_;  // an empty bucket fills in this time

  std::mutex mutex_;
  Time empty_at_{};         // guarded by mutex_; in the future while reservations wait
  double fraction_ns_ = 0;  // guarded by mutex_; part of a nanosecond not yet in empty_at_
  bool started_ = false;    // guarded by mutex_
};

}  // namespace tessera::engine
