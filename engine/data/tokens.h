// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Bytes as tokens, a byte a token.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tessera::engine {

/// The first bytes as tokens; where there are too few, zeros behind them.
inline void BytesToTokens(std::span<const std::byte> bytes, std::span<std::int32_t> out) {
  const std::size_t count = std::min(bytes.size(), out.size());
  for (std::size_t i = 0; i < count; ++i) out[i] = std::to_integer<std::int32_t>(bytes[i]);
  std::fill(out.begin() + static_cast<std::ptrdiff_t>(count), out.end(), 0);
}

}  // namespace tessera::engine
