// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// TCP connections between processes of this machine.

#include <cstdint>
#include <string>

namespace tessera::test {

/// Returns how many connections to the port of `endpoint` (tcp://127.0.0.1:7400) the process
/// `server` still has with `client`. A process that is stopped keeps its own ends open.
int NumConnections(std::int64_t server, const std::string& endpoint, std::int64_t client);

}  // namespace tessera::test
