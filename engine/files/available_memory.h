// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// How much memory the machine could still give away.

#include <cstdint>
#include <optional>

namespace tessera::engine {

/// Bytes that Linux takes for available without swapping (MemAvailable of proc(5)); nullopt where
/// it does not say. \threadsafety Any thread.
std::optional<std::int64_t> AvailableMemory();

}  // namespace tessera::engine
