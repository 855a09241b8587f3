// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// How much memory this machine has left.

#include <cstdint>
#include <optional>

namespace tessera::agents {

/// MemAvailable of /proc/meminfo in bytes: what can be allocated without swapping. nullopt if the
/// file does not say. Any thread.
std::optional<std::int64_t> AvailableMemory();

}  // namespace tessera::agents
