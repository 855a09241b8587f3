// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The checksum of frames on the wire and of tables in memory: xxh3-64 with seed 0.

#include <cstddef>
#include <cstdint>
#include <span>

namespace tessera::engine {

std::uint64_t Checksum(std::span<const std::byte> bytes);

}  // namespace tessera::engine
