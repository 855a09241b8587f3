// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The wall clock of messages and records. It is for display only; no decision depends on it.

#include <chrono>

namespace tessera::agents {

/// Seconds since 1970.
inline double WallClock() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace tessera::agents
