// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Emulates a port of limited rate with the virtual scheduling form of the generic cell rate
/// algorithm (ITU-T I.371, annex A): the state of the bucket is the time at which it is empty.
/// The rate may change while bytes wait, for an operator who limits a transfer.

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

  /// Changes the rate from `now` on, also of what is reserved. Waits that Take has returned stay.
  /// \param bytes_per_second 0: no limit
  /// \pre bytes_per_second >= 0
  void SetRate(std::int64_t bytes_per_second, Time now);

  std::int64_t bytes_per_second() const;

 private:
  const std::int64_t burst_bytes_;

  mutable std::mutex mutex_;  // guards all below
  std::int64_t bytes_per_second_;
  std::chrono::nanoseconds burst_time_;  // an empty bucket fills in this time
  Time empty_at_{};                      // in the future while reservations wait
  double fraction_ns_ = 0;               // part of a nanosecond that is not yet in empty_at_
  bool started_ = false;
};

}  // namespace tessera::engine
