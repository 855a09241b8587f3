// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Network addresses and public keys as people type them.

#include <string>
#include <string_view>

#include "ptc/base/result.h"

namespace tessera::app {

/// Default port of a node for commands. Events and lanes use the next ports.
inline constexpr int kDefaultPort = 7400;

struct Endpoint {
  std::string host;
  int port = 0;
  /// "tcp://10.0.0.1:7400".
  std::string text() const;
};

/// "10.0.0.1:7400", "tcp://lab3:7400", "lab3", "[fe80::1]:7400".
/// \error kInvalidArgument naming the text: no host, a port outside 1…65532.
Result<Endpoint> parseEndpoint(std::string_view text, int defaultPort);

/// Returns the key, given as text or as the file that contains it.
/// \error kInvalidArgument, kNotFound
Result<std::string> readPublicKey(const std::string& keyOrFile);

}  // namespace tessera::app
