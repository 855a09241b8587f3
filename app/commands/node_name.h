// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The name of a node on the command line.

#include <cstdint>
#include <string>

#include "ptc/base/result.h"

namespace tessera::app {

/// Parses "n1".
/// \error kInvalidArgument naming the text
Result<std::int32_t> parseNodeName(const std::string& name);

}  // namespace tessera::app
