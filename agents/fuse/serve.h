// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The main loop of a process that serves a mount.

#include <chrono>
#include <csignal>

#include "agents/fuse/file_server.h"

namespace tessera::agents {

/// Blocks SIGTERM, SIGINT and SIGHUP during its life. Construct it before any thread, so that all
/// threads inherit the mask.
class EndSignals {
 public:
  EndSignals();
  ~EndSignals();
  EndSignals(const EndSignals&) = delete;
  EndSignals& operator=(const EndSignals&) = delete;
  /// Waits for one of the signals.
  /// \return whether one arrived within `patience`
  bool Wait(std::chrono::milliseconds patience);

 private:
  sigset_t signals_{};
  sigset_t before_{};
};

/// Serves until a signal arrives or the mount is removed. The destructor of `server` then unmounts.
void ServeUntilEnd(FileServer& server, EndSignals& signals);

}  // namespace tessera::agents
