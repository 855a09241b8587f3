// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// One block of the cache on disk (FORMAT.md), checked in small chunks, so that a small read is
/// cheap.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "ptc/base/result.h"

namespace tessera::agents {

/// Fills `out` from byte `begin` of the block, and marks the file as used now.
/// \return false if there is no such block, it has another key or size, or is damaged in the
///     requested range; a damaged file is removed
bool ReadBlockFile(const std::string& path, std::uint64_t key, std::int64_t block_bytes,
                   std::int64_t begin, std::span<std::byte> out);

/// Writes a block to a temporary file and renames it. Readers find all of it or nothing.
/// \error kResourceExhausted, kUnavailable `cannot write 'PATH': reason of the system`
Status WriteBlockFile(const std::string& path, std::uint64_t key, std::span<const std::byte> block);

}  // namespace tessera::agents
