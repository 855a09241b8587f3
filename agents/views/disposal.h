// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A thread that destroys objects whose destructor is slow. Unmapping a large view takes long, and
/// a file system or a driver may never answer. Neither the agent's loop nor a holder of a lock may
/// block that long.

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace tessera::agents {

/// \threadsafety Any thread.
class Disposal {
 public:
  Disposal();
  /// Waits until all objects are released.
  ~Disposal();
  Disposal(const Disposal&) = delete;
  Disposal& operator=(const Disposal&) = delete;

  /// Releases `object` soon, on the thread. If it has other owners, the last of them destroys it.
  void Take(std::shared_ptr<const void> object);

 private:
  void Run(const std::stop_token& stop);

  std::mutex mutex_;
  std::condition_variable_any given_;
  std::vector<std::shared_ptr<const void>> objects_;  // guarded by mutex_
  std::jthread thread_;                               // last: it uses the others
};

}  // namespace tessera::agents
