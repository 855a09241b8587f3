// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Data paths on the command line.

#include <string>

namespace tessera::app {

/// A path or weighted path (`0.7:PATH`) for the nodes of the cluster: absolute, unless it is a URL.
std::string absoluteData(const std::string& given);

}  // namespace tessera::app
