// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The progress of opening a whole mix: the bytes of all files found, and of those the bytes that
/// are indexed. Parts are opened one after the other, each unaware of the others.

#include <cstdint>

#include "engine/data/index_file.h"
#include "ptc/base/result.h"

namespace tessera::engine {

/// \threadsafety One thread.
class OpeningProgress {
 public:
  /// The options outlive it.
  explicit OpeningProgress(const IndexOptions& options) : options_(options) {}

  /// Reports that files with `bytes` bytes were found.
  /// \error kCancelled
  Status Found(std::int64_t bytes);
  /// Returns the options for the next part. Its progress on its own bytes is reported as progress
  /// of the whole mix.
  IndexOptions ForPart() const;
  /// Reports that a part of `bytes` bytes is open, whether its index was built or kept.
  void Opened(std::int64_t bytes);

 private:
  void Tell(std::int64_t done) const;

  const IndexOptions& options_;
  std::int64_t found_bytes_ = 0;
  std::int64_t opened_bytes_ = 0;
};

}  // namespace tessera::engine
