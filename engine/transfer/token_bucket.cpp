// SPDX-License-Identifier: Apache-2.0
#include "engine/transfer/token_bucket.h"

#include <algorithm>
#include <cmath>

#include "ptc/base/check.h"

namespace tessera::engine {
namespace {

/// At most that of kLongestWait, so that the result fits int64 whatever the rate.
double Nanoseconds(std::int64_t bytes, std::int64_t bytes_per_second) {
  using std::chrono::nanoseconds;
  const double exact = static_cast<double>(bytes) * 1e9 / static_cast<double>(bytes_per_second);
  return std::min(exact, static_cast<double>(nanoseconds(TokenBucket::kLongestWait).count()));
}

std::chrono::nanoseconds TimeOf(std::int64_t bytes, std::int64_t bytes_per_second) {
  if (bytes_per_second == 0) return std::chrono::nanoseconds(0);
  return std::chrono::nanoseconds(std::llround(Nanoseconds(bytes, bytes_per_second)));
}

}  // namespace

TokenBucket::TokenBucket(std::int64_t bytes_per_second, std::int64_t burst_bytes)
    : burst_bytes_(burst_bytes),
      bytes_per_second_(bytes_per_second),
      burst_time_(TimeOf(burst_bytes, bytes_per_second)) {
  TESSERA_CHECK(bytes_per_second >= 0 && burst_bytes >= 0);
}

std::chrono::nanoseconds TokenBucket::Take(std::int64_t bytes, Time now) {
  TESSERA_DCHECK(bytes >= 0);
  const std::lock_guard lock(mutex_);
  if (bytes_per_second_ == 0) return std::chrono::nanoseconds{0};
  // A full bucket stays full, however long nobody takes from it.
  const Time full = now - burst_time_;
  if (!started_ || empty_at_ < full) {
    empty_at_ = full;
    started_ = true;
  }
  const double cost = Nanoseconds(bytes, bytes_per_second_) + fraction_ns_;
  const double whole = std::floor(cost);
  fraction_ns_ = cost - whole;
  empty_at_ = std::min(empty_at_ + std::chrono::nanoseconds(static_cast<std::int64_t>(whole)),
                       now + kLongestWait);
  return std::max(std::chrono::nanoseconds{0},
                  std::chrono::duration_cast<std::chrono::nanoseconds>(empty_at_ - now));
}

void TokenBucket::SetRate(std::int64_t bytes_per_second, Time now) {
  TESSERA_CHECK(bytes_per_second >= 0);
  const std::lock_guard lock(mutex_);
  if (bytes_per_second == bytes_per_second_) return;
  if (bytes_per_second == 0 || bytes_per_second_ == 0) {
    started_ = false;  // nothing waits, so it starts full
  } else {
    // What waits, or has been saved, are bytes: they take another time at the new rate.
    const double bytes = std::chrono::duration<double>(empty_at_ - now).count() *
                         static_cast<double>(bytes_per_second_);
    const std::chrono::duration<double> time(bytes / static_cast<double>(bytes_per_second));
    const std::chrono::duration<double> longest = kLongestWait;
    if (started_) {
      empty_at_ = now + std::chrono::duration_cast<std::chrono::nanoseconds>(
                            std::clamp(time, -longest, longest));
    }
  }
  fraction_ns_ = 0;
  bytes_per_second_ = bytes_per_second;
  burst_time_ = TimeOf(burst_bytes_, bytes_per_second);
}

std::int64_t TokenBucket::bytes_per_second() const {
  const std::lock_guard lock(mutex_);
  return bytes_per_second_;
}

}  // namespace tessera::engine
