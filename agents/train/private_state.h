// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The pieces of a rank in private memory, for training without an agent.

#include <cstddef>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "agents/job/tessera_job.h"
#include "ptc/layout.h"

namespace tessera::agents::train {

/// Zeroed memory for all boxes of a rank, listed as the rank library lists them. Pointers stay
/// valid as long as the object exists.
class PrivateState {
 public:
  /// \pre 0 <= rank < layout.mesh().num_ranks()
  PrivateState(const ptc::Layout& layout, int rank);
  PrivateState(const PrivateState&) = delete;
  PrivateState& operator=(const PrivateState&) = delete;

  std::span<const tessera_piece> pieces() const { return pieces_; }

 private:
  const ptc::Layout layout_;  // owns the names
  std::deque<std::string> names_;
  std::deque<std::vector<std::byte>> memory_;
  std::vector<tessera_piece> pieces_;
};

}  // namespace tessera::agents::train
