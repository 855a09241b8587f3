// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Bytes as tokens, one token per byte.

#include <cstddef>
#include <cstdint>
#include <span>

namespace tessera::engine {

/// Fills `out` with the first bytes as tokens, and with zeros if there are too few.
void BytesToTokens(std::span<const std::byte> bytes, std::span<std::int32_t> out);

}  // namespace tessera::engine
