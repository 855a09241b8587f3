// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Whether a job survives the loss of a node, and what it would lose.

#include <cstdint>

namespace tessera::engine {

/// The most state that one node holds alone. 0 bytes: the other nodes hold a copy of all state.
struct Survival {
  std::int32_t node = 0;   // the lowest one with these bytes
  std::int64_t bytes = 0;  // of state that no other node holds
  bool of_any_node() const { return bytes == 0; }
  friend bool operator==(const Survival&, const Survival&) = default;
};

}  // namespace tessera::engine
