// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Addresses of this machine, and host names in endpoints.

#include <string>

#include "ptc/base/result.h"

namespace tessera::agents {

/// The numeric address from which packets to `endpoint` ("tcp://host:port") leave. Sends nothing.
/// \error kInvalidArgument for another form; kUnavailable without a route
Result<std::string> LocalAddressTowards(const std::string& endpoint);

/// Returns `endpoint` ("tcp://host:port") with a numeric address in place of a host name: its first
/// IPv4 address, or its first IPv6 address if it has no other. Leaves numeric addresses, `*` and
/// names of network interfaces unchanged. May wait for a name server.
/// \error kInvalidArgument for another form; kUnavailable naming the host
Result<std::string> NumericEndpoint(const std::string& endpoint);

}  // namespace tessera::agents
