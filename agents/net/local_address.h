// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The address of this machine that another machine reaches.

#include <string>

#include "ptc/base/result.h"

namespace tessera::agents {

/// The numeric address from which packets to `endpoint` ("tcp://host:port") leave. Sends nothing.
/// \error kInvalidArgument for another form; kUnavailable without a route
Result<std::string> LocalAddressTowards(const std::string& endpoint);

}  // namespace tessera::agents
