// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Pauses between attempts: 0.25, 0.5, 1, 2, 4, 8, 16, 30, 30… seconds. An agent that was killed is
/// back before the first has passed.

#include <algorithm>
#include <chrono>

namespace tessera::agents {

class Backoff {
 public:
  using Duration = std::chrono::milliseconds;
  explicit Backoff(Duration first = std::chrono::milliseconds(250),
                   Duration longest = std::chrono::seconds(30))
      : first_(first), longest_(longest), next_(first) {}

  Duration Next() {
    const Duration now = next_;
    next_ = std::min(next_ * 2, longest_);
    return now;
  }
  /// Starts over with the first pause; to be called after a success.
  void Reset() { next_ = first_; }

 private:
  Duration first_;
  Duration longest_;
  Duration next_;
};

}  // namespace tessera::agents
