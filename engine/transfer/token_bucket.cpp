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

}  // namespace

TokenBucket::TokenBucket(std::int64_t bytes_per_second, std::int64_t burst_bytes)
    : bytes_per_second_(bytes_per_second),
      burst_time_(bytes_per_second > 0 ? std::llround(Nanoseconds(burst_bytes, bytes_per_second))
                                       : 0) {
  TESSERA_CHECK(bytes_per_second >= 0 && burst_bytes >= 0);
}

std::chrono::nanoseconds TokenBucket::Take(std::int64_t bytes, Time now) {
  TESSERA_DCHECK(bytes >= 0);
  if (bytes_per_second_ == 0) return std::chrono::nanoseconds{0};
  const std::lock_guard lock(mutex_);
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

}  // namespace tessera::engine
