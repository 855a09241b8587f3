// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A signal to one process. A test that has failed may hold -1 for a pid, and kill(-1, …) would
/// signal every process of the machine.

#include <sys/types.h>

#include <csignal>
#include <cstdint>

namespace tessera::test {

/// \return whether the signal was sent; false for a number that is not a process of a test
inline bool SendSignal(std::int64_t pid, int signal) {
  return pid > 1 && ::kill(static_cast<pid_t>(pid), signal) == 0;
}

}  // namespace tessera::test
