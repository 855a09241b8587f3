// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Emulates a port of limited rate. The virtual scheduling form of the generic cell rate algorithm
/// (ITU-T I.371, annex A): the bucket is one point in time, the moment at which it is empty.

#include <chrono>
#include <cstdint>
#include <mutex>

namespace tessera::engine {

/// Shared by all lanes of one direction of a port. A full-duplex port is two buckets.
/// Time is an argument; it may come from different threads slightly out of order.
/// \threadsafety all members from any thread
class TokenBucket {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// `bytes_per_second` 0: no limit. `burst_bytes` may pass at once after a rest at least
  /// burst_bytes / bytes_per_second long. The bucket starts full.
  /// \pre bytes_per_second >= 0 && burst_bytes >= 0
  TokenBucket(std::int64_t bytes_per_second, std::int64_t burst_bytes);

  /// Reserves `bytes` and returns how long to wait from `now` before using them, 0 for at once.
  /// Reservations queue: whoever takes later waits for all that was taken before. \pre bytes >= 0
  std::chrono::nanoseconds Take(std::int64_t bytes, Time now);

  std::int64_t bytes_per_second() const { return bytes_per_second_; }

 private:
  const std::int64_t bytes_per_second_;
  const std::chrono::nanoseconds burst_time_;  // in which an empty bucket fills

  std::mutex mutex_;
  Time empty_at_{};         // guarded by mutex_; in the future while there are debts
  double fraction_ns_ = 0;  // guarded by mutex_; of a nanosecond not yet in empty_at_
  bool started_ = false;    // guarded by mutex_
};

}  // namespace tessera::engine
