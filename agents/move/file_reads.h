// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Reads of a transfer from a file system, which may never answer. The transfer can leave them
/// behind, so that its end, and the loop that waits for it, do not wait for the file system.

#include <functional>
#include <shared_mutex>
#include <stop_token>

#include "agents/views/disposal.h"
#include "ptc/base/result.h"

namespace tessera::agents {

/// What reads may touch of others, as long as somebody waits for the reads.
/// \threadsafety Any thread, several at once.
class ReadGate {
 public:
  /// Runs `use` unless the gate is closed.
  /// \error kCancelled once it is closed; as `use`
  Status Use(const std::function<Status()>& use);
  /// Waits for the uses that run. Afterwards none begins.
  void Close();

 private:
  std::shared_mutex mutex_;
  bool is_closed_ = false;  // guarded by mutex_
};

/// Runs `reads` on a thread of its own and waits for it. After `stop` it is not waited for: it goes
/// on until the file system answers, but it can use nothing more, and `left` waits for its thread.
/// \param reads touches what it does not own in the gate only, and waits for files outside of it
/// \error as `reads`; kCancelled after `stop`
Status RunFileReads(const std::stop_token& stop, Disposal& left,
                    std::function<Status(ReadGate& gate, const std::stop_token& stop)> reads);

}  // namespace tessera::agents
