// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Measures how long a rank is inside collectives, where it mostly waits for others. The rest of a
/// step is its own work.

#include <chrono>
#include <memory>
#include <utility>

#include "agents/train/comm/collective.h"

namespace tessera::agents::train {

/// \threadsafety The thread that makes the collectives.
class WaitClock {
 public:
  using Seconds = std::chrono::duration<double>;
  void Add(Seconds waited) { waited_ += waited; }
  /// The time since the last call.
  Seconds Take() { return std::exchange(waited_, Seconds{}); }

 private:
  Seconds waited_{};
};

/// Returns `group`, with its calls measured by `clock`.
CollectivePtr Timed(CollectivePtr group, std::shared_ptr<WaitClock> clock);

}  // namespace tessera::agents::train
