// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What the kernel says of a process of this machine (/proc/PID/stat, proc(5)).

#include <sys/types.h>

#include <cstdint>

#include "ptc/base/result.h"

namespace tessera::engine {

struct ProcessStat {
  char state = 'X';  // 'Z': ended, not yet waited for; 'X': gone
  pid_t parent = 0;
  std::uint64_t start = 0;  // clock ticks after boot; with the pid it names a process for ever
};

/// \error kNotFound: there is no such process (any more); kDataLoss naming the file: its words are
/// not those of proc(5)
Result<ProcessStat> ReadProcessStat(pid_t pid);

}  // namespace tessera::engine
