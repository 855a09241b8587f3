// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Makes the memory of new pieces present while the job still trains. The kernel zeroes and maps a
/// page of an arena at the first write to it, which takes 2 to 3 us of the pause for each 4 KiB.

#include <future>
#include <memory>
#include <stop_token>
#include <thread>

#include "agents/move/move_context.h"

namespace tessera::agents {

/// Changes no byte. What the kernel cannot do in advance, the transfer does.
class PageWarmer {
 public:
  /// Starts at once, on a thread of its own.
  /// \pre the arenas outlive it
  explicit PageWarmer(std::shared_ptr<const MoveContext> context);
  /// Ends the work after the next 16 MiB.
  ~PageWarmer() = default;
  PageWarmer(const PageWarmer&) = delete;
  PageWarmer& operator=(const PageWarmer&) = delete;

  /// Waits until all pages are present.
  void Wait() const { done_.wait(); }

 private:
  std::promise<void> ended_;
  const std::future<void> done_ = ended_.get_future();
  std::jthread thread_;
};

}  // namespace tessera::agents
