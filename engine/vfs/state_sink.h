// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Where state goes that was written into the file tree. Implemented by the cluster client and by
/// tests.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ptc/base/result.h"
#include "ptc/layout.h"

namespace tessera::engine::vfs {

/// A box of a tensor, row-major in memory.
struct HandedPiece {
  ptc::Box box;
  const std::byte* data = nullptr;
};

/// All state of a job after one step, as it was handed in. Nothing changes it any more.
struct HandedState {
  std::string job;
  std::int64_t step = 0;
  ptc::Layout layout;
  /// By tensor. Every cell of the layout lies inside one of them; where several have it they agree.
  std::vector<std::vector<HandedPiece>> tensors;
  std::vector<std::shared_ptr<const void>> alive;  // what the pieces point into

  /// A piece that holds all of `cell`, or nullptr.
  const HandedPiece* Find(int tensor, const ptc::Box& cell) const;
};
using HandedStatePtr = std::shared_ptr<const HandedState>;

/// \threadsafety Any thread, several at once.
class StateSink {
 public:
  virtual ~StateSink() = default;
  /// Makes it the job's state, all at once, or changes nothing; returns when that is decided.
  /// \error kFailedPrecondition where the job has another layout, or runs a program that cannot go
  ///     on from this step; kUnavailable, kTimeout while it cannot be reached or is busy;
  ///     kCancelled with the reason where it was rolled back
  virtual Status Take(HandedStatePtr state) = 0;
  /// For whoever watches the job: why something that was written is not taken. Does not wait.
  virtual void NoteRefused(const std::string& job, const std::string& why) = 0;
  /// For the end: what is being taken and not yet decided is called off, and Take returns within
  /// seconds.
  virtual void Cancel() = 0;
};

}  // namespace tessera::engine::vfs
