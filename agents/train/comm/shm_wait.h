// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Waits in shared memory for a word that another rank changes.

#include <atomic>
#include <cstdint>

#include "agents/train/comm/collective.h"

namespace tessera::agents::train {

/// The word that ranks sleep on, in the layout that the kernel requires.
using FutexWord = std::atomic<std::uint32_t>;
static_assert(FutexWord::is_always_lock_free && sizeof(FutexWord) == 4);

/// Wakes all ranks that wait for `word` to change. Call it after the change.
void Wake(FutexWord& word);

/// The wait of the ranks of one group: until the word changes, the group is aborted or abandoned,
/// or its timeout passes.
class ShmWait {
 public:
  /// Both must outlive this object. `aborted` is a word of the shared memory of the group.
  ShmWait(const GroupOptions& options, std::atomic<std::uint32_t>& aborted)
      : options_(options), aborted_(aborted) {}

  /// Returns when `word` is no longer `value`. What its writer did before the change is then
  /// visible.
  /// \error kCancelled, kTimeout as in Collective; the group is then aborted
  Status While(const FutexWord& word, std::uint32_t value) const;

  /// Returns kCancelled once the group is aborted.
  Status State() const;
  /// Waiting ranks notice it within 20 ms.
  void Abort() const { aborted_.store(1, std::memory_order_release); }

 private:
  const GroupOptions& options_;
  std::atomic<std::uint32_t>& aborted_;
};

}  // namespace tessera::agents::train
