// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Processes of this machine as /proc shows them, and how a daemon is started. A process is always
/// named by pid *and* start time, so that a number that was used again is never taken for it.

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "ptc/base/result.h"

namespace tessera::app {

struct ProcessId {
  pid_t pid = 0;
  std::uint64_t start = 0;  // clock ticks after boot
  friend bool operator==(const ProcessId&, const ProcessId&) = default;
};

/// Starts a program in a session of its own, stdin from /dev/null, stdout and stderr appended to
/// `log`, in `directory`. \param home its TESSERA_HOME; empty: this process's
/// \error kUnavailable naming the program and the system's reason.
Result<ProcessId> startDaemon(const std::vector<std::string>& command, const std::string& directory,
                              const std::string& log, const std::string& home = {});

/// Whether the process lives (a zombie does not).
bool isAlive(const ProcessId& process);
/// Whether `text` is one of the arguments it was started with.
bool hasArgument(const ProcessId& process, const std::string& text);
/// Its living descendants, parents first.
std::vector<ProcessId> descendantsOf(const ProcessId& process);
/// Sends `signal` if the process lives still.
void signalProcess(const ProcessId& process, int signal);
/// Waits until none lives. \return whether that came within `patience`
bool waitGone(const std::vector<ProcessId>& processes, std::chrono::milliseconds patience);

/// The folder of the running program.
std::string programFolder();

}  // namespace tessera::app
