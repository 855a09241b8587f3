// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The memory that is available on this machine.

#include <cstdint>
#include <optional>

namespace tessera::engine {

/// Returns the bytes that are available without swapping (MemAvailable of proc(5)), or nullopt if
/// the kernel does not report them.
/// \threadsafety Any thread.
std::optional<std::int64_t> AvailableMemory();

}  // namespace tessera::engine
