// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The largest cluster that one process simulates: limits of agents, command line and panel.

#include <cstdint>

namespace tessera::engine {

/// An address space and the descriptors of a process have room for that many devices.
inline constexpr std::int64_t kMostSimulatedDevices = 4096;
inline constexpr std::int64_t kMostSimulatedDevicesOfNode = 64;

}  // namespace tessera::engine
