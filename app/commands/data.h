// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Data as a command line names them.

#include <string>

namespace tessera::app {

/// A path or weighted path (`0.7:PATH`) as the cluster's nodes are told it: absolute, where it is
/// not the URL of a server.
std::string absoluteData(const std::string& given);

}  // namespace tessera::app
