// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Reads of small pieces on the way through a file, from a window of it.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/data/byte_source.h"

namespace tessera::engine {

/// Where pieces stand close together the window is read ahead; where the way jumps, little is.
/// \threadsafety One thread.
class ScanReader {
 public:
  explicit ScanReader(const ByteSource& source) : source_(source) {}
  /// Valid until the next call.
  /// \pre size is small: memory is taken for it
  /// \error kDataLoss where it does not lie in the file; as ByteSource::ReadAt
  Result<std::span<const std::byte>> At(std::int64_t offset, std::int64_t size);

 private:
  const ByteSource& source_;
  std::vector<std::byte> window_;
  std::int64_t begin_ = 0;  // of the window in the file
};

}  // namespace tessera::engine
