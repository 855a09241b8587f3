// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Starts a process that dies with its parent and inherits only the named descriptors.

#include <sys/types.h>

#include <string>
#include <vector>

#include "ptc/base/result.h"

namespace tessera::agents {

struct ChildSpec {
  std::vector<std::string> argv;         // argv[0] without '/' is searched in PATH
  std::vector<std::string> environment;  // KEY=VALUE, complete
  int output = -1;  // becomes stdout and stderr; -1: the parent's. stdin is /dev/null
  std::vector<int> descriptors = {};  // become kChildDescriptor and the numbers behind it
};
inline constexpr int kChildDescriptor = 3;
inline constexpr int kMostChildDescriptors = 4;

/// Forks and executes. The child leads a process group of its own, has default signal handling and
/// is killed when the calling thread ends (PR_SET_PDEATHSIG).
/// \error kInvalidArgument without argv; kUnavailable `cannot start NAME: reason`
Result<pid_t> StartChild(const ChildSpec& spec);

/// "exited with status 3", "was killed by signal 9 (Killed)".
/// \param status from wait(2)
std::string DescribeExit(int status);

}  // namespace tessera::agents
