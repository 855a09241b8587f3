// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Time limits in error texts.

#include <chrono>
#include <string>

namespace tessera::agents {

/// "10 s", "400 ms".
inline std::string DurationText(std::chrono::milliseconds time) {
  const auto ms = time.count();
  return ms % 1000 == 0 ? std::to_string(ms / 1000) + " s" : std::to_string(ms) + " ms";
}

}  // namespace tessera::agents
