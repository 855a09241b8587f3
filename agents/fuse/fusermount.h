// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// fusermount3, the program with which users other than root mount and unmount.

#include <string>

#include "ptc/base/result.h"

namespace tessera::agents {

/// Whether fusermount3 can mount.
/// \error kFailedPrecondition if it is not installed or is not setuid root
Status CheckFusermount();

/// Runs `fusermount3 -u PATH`, with `-z` if `lazy`.
/// \error kFailedPrecondition, kUnavailable with its message
Status RunFusermount(const std::string& path, bool lazy);

}  // namespace tessera::agents
