// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Bytes as tokens, a byte a token.

#include <cstddef>
#include <cstdint>
#include <span>

namespace tessera::engine {

/// The first bytes as tokens; where there are too few, zeros behind them.
void BytesToTokens(std::span<const std::byte> bytes, std::span<std::int32_t> out);

}  // namespace tessera::engine
