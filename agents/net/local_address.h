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

/// Returns `endpoint` ("tcp://host:port") with the first IPv4 address of a host name in its place,
/// or the first IPv6 address if it has no other. Leaves numeric addresses, `*` and names of network
/// interfaces unchanged. May wait for a name server.
/// \error kInvalidArgument for another form; kUnavailable naming the host
Result<std::string> NumericEndpoint(const std::string& endpoint);

/// Returns an endpoint to which a Socket can connect: a host name that has only IPv6 addresses is
/// replaced by the first one. Other names stay, also those that are not known now: ZeroMQ resolves
/// them at each attempt. May wait for a name server.
std::string ConnectableEndpoint(const std::string& endpoint);

}  // namespace tessera::agents
