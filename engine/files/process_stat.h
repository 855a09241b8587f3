// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Reads the state of a process of this machine (/proc/PID/stat, proc(5)).

#include <sys/types.h>

#include <cstdint>

#include "ptc/base/result.h"

namespace tessera::engine {

struct ProcessStat {
  char state = 'X';  // 'Z': ended, but not waited for; 'X': dead
  pid_t parent = 0;
  std::uint64_t start = 0;  // clock ticks after boot; unique together with the pid
};

/// \error kNotFound if there is no such process; kDataLoss naming the file if its fields are not
///     those of proc(5)
Result<ProcessStat> ReadProcessStat(pid_t pid);

}  // namespace tessera::engine
