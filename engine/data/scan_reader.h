// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Reads small pieces of a file in ascending order through a window.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/data/byte_source.h"

namespace tessera::engine {

/// Reads ahead where pieces are close together, and little where they are far apart.
/// \threadsafety One thread.
class ScanReader {
 public:
  explicit ScanReader(const ByteSource& source) : source_(source) {}
  /// Returns `size` bytes at `offset`, valid until the next call. They are held in memory.
  /// \error kDataLoss if they are not all in the file; as ByteSource::ReadAt
  Result<std::span<const std::byte>> At(std::int64_t offset, std::int64_t size);

 private:
  const ByteSource& source_;
  std::vector<std::byte> window_;
  std::int64_t begin_ = 0;  // of the window in the file
};

}  // namespace tessera::engine
