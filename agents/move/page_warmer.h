// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Makes the memory of new pieces present while the job still trains. The kernel zeroes and maps a
/// page of an arena at the first write to it, which takes 2 to 3 us of the pause for each 4 KiB.

#include <functional>
#include <memory>
#include <stop_token>
#include <thread>

#include "agents/move/move_context.h"

namespace tessera::agents {

/// Changes no byte. What the kernel cannot do in advance, the transfer does.
class PageWarmer {
 public:
  /// Starts at once, on a thread of its own. `done` runs once, on that thread: when all pages are
  /// present, or when the work is ended before.
  /// \pre the arenas outlive it
  PageWarmer(std::shared_ptr<const MoveContext> context, std::function<void()> done);
  /// Ends the work after the next 16 MiB.
  ~PageWarmer() = default;
  PageWarmer(const PageWarmer&) = delete;
  PageWarmer& operator=(const PageWarmer&) = delete;

 private:
  std::jthread thread_;
};

}  // namespace tessera::agents
