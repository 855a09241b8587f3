// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The life of a process that serves a mount: until it is told to end.

#include <chrono>
#include <csignal>

#include "agents/fuse/file_server.h"

namespace tessera::agents {

/// SIGTERM, SIGINT and SIGHUP, held back as long as this lives. To be made before any thread, so
/// that all of them inherit it.
class EndSignals {
 public:
  EndSignals();
  ~EndSignals();
  EndSignals(const EndSignals&) = delete;
  EndSignals& operator=(const EndSignals&) = delete;
  /// Waits for one of them. \return whether one came within `patience`
  bool Wait(std::chrono::milliseconds patience);

 private:
  sigset_t signals_{};
  sigset_t before_{};
};

/// Serves until a signal comes or somebody unmounts; the destructor of `server` then unmounts.
void ServeUntilEnd(FileServer& server, EndSignals& signals);

}  // namespace tessera::agents
