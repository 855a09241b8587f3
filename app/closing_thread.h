// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Destroys objects away from the GUI thread, because their destructors may wait for the network.

#include <memory>
#include <utility>

#include "app/task_thread.h"

namespace tessera::app {

class ClosingThread {
 public:
  /// Waits for the objects that are not destroyed yet.
  ~ClosingThread() { wait(); }

  /// Destroys `object` later, after those that were given before. Never waits.
  template <typename T>
  void close(std::unique_ptr<T> object) {
    if (!object) return;
    m_thread.post([last = std::shared_ptr<T>(std::move(object))]() mutable { last.reset(); });
  }

  /// Returns when all objects are destroyed. Objects that are given later are destroyed at once.
  void wait() { m_thread.stop(); }

 private:
  TaskThread m_thread;
};

}  // namespace tessera::app
