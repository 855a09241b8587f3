// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Waiting, in shared memory, for a word that another rank changes.

#include <atomic>
#include <cstdint>

#include "agents/train/comm/collective.h"

namespace tessera::agents::train {

/// The word that ranks sleep on; as the kernel wants it.
using FutexWord = std::atomic<std::uint32_t>;
static_assert(FutexWord::is_always_lock_free && sizeof(FutexWord) == 4);

/// Wakes all who wait for `word` to change; called after changing it.
void Wake(FutexWord& word);

/// How the ranks of one group wait: until the word changes, the group is aborted or abandoned, or
/// its timeout passes.
class ShmWait {
 public:
  /// Both outlive this. `aborted` is a word of the group's shared memory.
  ShmWait(const GroupOptions& options, std::atomic<std::uint32_t>& aborted)
      : options_(options), aborted_(aborted) {}

  /// Returns when `word` is no longer `value`; what its writer did before changing it is visible.
  /// \error kCancelled, kTimeout as Collective says; the group is then aborted
  Status While(const FutexWord& word, std::uint32_t value) const;

  /// kCancelled once the group is aborted.
  Status State() const;
  /// Who waits notices within 20 ms.
  void Abort() const { aborted_.store(1, std::memory_order_release); }

 private:
  const GroupOptions& options_;
  std::atomic<std::uint32_t>& aborted_;
};

}  // namespace tessera::agents::train
