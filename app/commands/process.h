// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Processes of this machine, read from /proc, and the start of daemons. A process is identified by
/// pid *and* start time, because a pid is used again.

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
/// `log`, in `directory`.
/// \param home its TESSERA_HOME; empty: this process's
/// \error kUnavailable naming the program and the system's reason.
Result<ProcessId> startDaemon(const std::vector<std::string>& command, const std::string& directory,
                              const std::string& log, const std::string& home = {});

/// Whether the process is alive. A zombie is not.
bool isAlive(const ProcessId& process);
/// Whether `text` is one of its arguments.
bool hasArgument(const ProcessId& process, const std::string& text);
/// Its live descendants, parents first.
std::vector<ProcessId> descendantsOf(const ProcessId& process);
/// Sends `signal` if the process is alive.
void signalProcess(const ProcessId& process, int signal);
/// Waits until none is alive.
/// \return false if that took longer than `patience`
bool waitGone(const std::vector<ProcessId>& processes, std::chrono::milliseconds patience);

/// The folder of the running program.
std::string programFolder();

}  // namespace tessera::app
