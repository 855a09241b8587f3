// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The time of a simulation: events run one after the other, and no time passes in between.

#include <cstdint>
#include <functional>
#include <map>
#include <utility>

namespace tessera::agents::sim {

/// Milliseconds since the begin.
using Time = std::int64_t;

class VirtualClock {
 public:
  Time now() const { return now_; }
  /// Calls `then` after `delay`. Events of one moment run in the order of their calls.
  void After(Time delay, std::function<void()> then);
  /// Runs the next event.
  /// \return false if there is none until `end`, which is then the present time
  bool RunNext(Time end);

 private:
  Time now_ = 0;
  std::uint64_t next_ = 0;
  std::map<std::pair<Time, std::uint64_t>, std::function<void()>> events_;
};

}  // namespace tessera::agents::sim
