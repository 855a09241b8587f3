// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// How far the opening of a whole mix is: the bytes of all files that were found, and of those the
/// bytes whose index stands. Parts are opened one after the other, each as if it were alone.

#include <cstdint>

#include "engine/data/index_file.h"
#include "ptc/base/result.h"

namespace tessera::engine {

/// \threadsafety One thread.
class OpeningProgress {
 public:
  /// The options outlive it.
  explicit OpeningProgress(const IndexOptions& options) : options_(options) {}

  /// Files of the mix have so many bytes. \error kCancelled
  Status Found(std::int64_t bytes);
  /// The options for the next part: what it says of its own bytes is said of all.
  IndexOptions ForPart() const;
  /// A part of so many bytes is open, whether its index was built or was there.
  void Opened(std::int64_t bytes);

 private:
  void Tell(std::int64_t done) const;

  const IndexOptions& options_;
  std::int64_t found_bytes_ = 0;
  std::int64_t opened_bytes_ = 0;
};

}  // namespace tessera::engine
