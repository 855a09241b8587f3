// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A thread that ends what takes long to end: to unmap a large view takes time that neither the
/// agent's loop nor whoever waits for a lock has.

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
  /// Waits until all that was given is let go of.
  ~Disposal();
  Disposal(const Disposal&) = delete;
  Disposal& operator=(const Disposal&) = delete;

  /// Lets go of it soon, on the thread. Where others hold it, it is theirs to end.
  void Take(std::shared_ptr<const void> object);

 private:
  void Run(const std::stop_token& stop);

  std::mutex mutex_;
  std::condition_variable_any given_;
  std::vector<std::shared_ptr<const void>> objects_;  // guarded by mutex_
  std::jthread thread_;                               // last: it uses the others
};

}  // namespace tessera::agents
