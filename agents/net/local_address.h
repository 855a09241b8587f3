// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Under which of its addresses a machine is seen from another one.

#include <string>

#include "ptc/base/result.h"

namespace tessera::agents {

/// The numeric address of this machine from which packets to `endpoint` ("tcp://host:port") leave.
/// Sends nothing. \error kInvalidArgument for another form; kUnavailable where there is no way
Result<std::string> LocalAddressTowards(const std::string& endpoint);

}  // namespace tessera::agents
