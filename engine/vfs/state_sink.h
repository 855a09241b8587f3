// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Takes state that was written into the file tree. The cluster client and tests implement it.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ptc/base/result.h"
#include "ptc/layout.h"

namespace tessera::engine::vfs {

/// A box of a tensor. It lies in the row-major memory of `memory`, which contains it.
struct HandedPiece {
  ptc::Box box;
  ptc::Box memory;
  const std::byte* data = nullptr;  // the first element of `memory`
};

/// The whole state of a job after one step, as it was handed in. It does not change.
struct HandedState {
  std::string job;
  std::int64_t step = 0;
  ptc::Layout layout;
  /// By tensor. Every cell of the layout lies inside at least one of them; all replicas are equal.
  std::vector<std::vector<HandedPiece>> tensors;
  std::vector<std::shared_ptr<const void>> alive;  // own the memory of the pieces

  /// A piece that contains `cell`, or nullptr.
  const HandedPiece* Find(int tensor, const ptc::Box& cell) const;
};
using HandedStatePtr = std::shared_ptr<const HandedState>;

/// \threadsafety Any thread, several at once.
class StateSink {
 public:
  virtual ~StateSink() = default;
  /// Makes `state` the job's state in one transaction. Returns when the transaction has committed
  /// or rolled back.
  /// \error kFailedPrecondition if the job has another layout, or runs a program that cannot
  ///     continue from this step; kUnavailable, kTimeout if the job is out of reach or busy;
  ///     kCancelled with the reason if the transaction was rolled back
  virtual Status Take(HandedStatePtr state) = 0;
  /// Reports why a written file was refused, as an event of the job. Does not wait.
  virtual void NoteRefused(const std::string& job, const std::string& why) = 0;
  /// Cancels a transaction that is not decided yet, so that Take returns within seconds. The server
  /// calls it before it ends.
  virtual void Cancel() = 0;
};

}  // namespace tessera::engine::vfs
