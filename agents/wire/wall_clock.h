// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Wall time as messages and records carry it, for display only: nothing is decided by it.

#include <chrono>

namespace tessera::agents {

/// Seconds since 1970.
inline double WallClock() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace tessera::agents
