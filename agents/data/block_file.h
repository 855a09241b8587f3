// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// One block of the cache on disk (FORMAT.md): checked in small chunks, so that a small read from
/// it costs a small read.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "ptc/base/result.h"

namespace tessera::agents {

/// Fills `out` from byte `begin` of the block. The file counts as used now.
/// \return false if there is no such block, it is of another key or size, or damaged where it is
///     read; a damaged one is removed
bool ReadBlockFile(const std::string& path, std::uint64_t key, std::int64_t block_bytes,
                   std::int64_t begin, std::span<std::byte> out);

/// Writes a block beside its place and renames it. Whoever reads finds all of it or nothing.
/// \error kResourceExhausted, kUnavailable `cannot write 'PATH': the system's words`
Status WriteBlockFile(const std::string& path, std::uint64_t key, std::span<const std::byte> block);

}  // namespace tessera::agents
