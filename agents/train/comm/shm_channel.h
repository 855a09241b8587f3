// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Messages from one rank to another through a ring of floats in shared memory.

#include <cstddef>
#include <cstdint>
#include <span>

#include "agents/train/comm/shm_wait.h"

namespace tessera::agents::train {

/// One end of a channel. Each end has its own object over the same zeroed memory. A message that
/// does not fit into the ring streams through it. An object only sends or only receives.
class ShmChannel {
 public:
  /// \pre 1 <= capacity_floats <= kMaxCapacity; `memory` is page-aligned, of Bytes(capacity_floats)
  ShmChannel(std::byte* memory, std::size_t capacity_floats);
  static std::size_t Bytes(std::size_t capacity_floats);
  static constexpr std::size_t kMaxCapacity = std::size_t{1} << 30;

  /// Waits only while the ring is full.
  /// \error as ShmWait::While
  Status Send(const ShmWait& wait, std::span<const float> values);
  /// \error as ShmWait::While
  Status Receive(const ShmWait& wait, std::span<float> values);

 private:
  struct Header;
  std::size_t Contiguous() const;

  Header* header_;
  float* ring_;
  std::size_t capacity_;
  std::uint64_t position_ = 0;  // floats sent, or received, through this end
};

}  // namespace tessera::agents::train
