// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The size and the speed of a simulated cluster, as the command line has them.

#include <string>
#include <string_view>

#include "ptc/base/result.h"

namespace tessera::app {

struct SimulatedSize {
  int nodes = 0, devices = 0;  // devices per node
};
/// Parses "512x8".
/// \error kInvalidArgument naming the text and the limits
Result<SimulatedSize> parseSimulatedSize(std::string_view text);

/// Parses "10" or "0.5": simulated seconds per second. 0 stops the clock.
/// \error kInvalidArgument naming the text and the limits
Result<double> parseSimulationSpeed(std::string_view text);

}  // namespace tessera::app
