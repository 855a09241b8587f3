// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// fusermount3, the program by which users other than root mount and unmount.

#include <string>

#include "ptc/base/result.h"

namespace tessera::agents {

/// \error kFailedPrecondition: it is not installed, or has not the right to mount
Status CheckFusermount();

/// `fusermount3 -u PATH`, with `-z` where lazy.
/// \error kFailedPrecondition, kUnavailable with its words
Status RunFusermount(const std::string& path, bool lazy);

}  // namespace tessera::agents
