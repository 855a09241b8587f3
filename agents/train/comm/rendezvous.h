// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Where the ranks of one (epoch, attempt) exchange addresses and shared memory to build their
/// groups.

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "ptc/base/result.h"

namespace tessera::agents::train {

/// \threadsafety Any thread.
class Rendezvous {
 public:
  virtual ~Rendezvous() = default;
  virtual Status Set(const std::string& key, std::span<const std::byte> value) = 0;
  /// Waits until the key is set.
  /// \error kTimeout; kCancelled once abandoned
  virtual Result<std::vector<std::byte>> Get(const std::string& key,
                                             std::chrono::milliseconds timeout) = 0;
  /// Returns a zeroed shared-memory file, the same for all ranks of a host that name the same key.
  /// The caller closes the descriptor.
  virtual Result<int> SharedMemory(const std::string& key, std::size_t size_bytes) = 0;
  virtual bool Abandoned() const = 0;
};

}  // namespace tessera::agents::train
