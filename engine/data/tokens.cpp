// SPDX-License-Identifier: Apache-2.0

// Compiled with -O3: at -O2 the loop takes a byte at a time, which costs more than the read.
#include "engine/data/tokens.h"

#include <algorithm>

namespace tessera::engine {

void BytesToTokens(std::span<const std::byte> bytes, std::span<std::int32_t> out) {
  const std::size_t count = std::min(bytes.size(), out.size());
  for (std::size_t i = 0; i < count; ++i) out[i] = std::to_integer<std::int32_t>(bytes[i]);
  std::fill(out.begin() + static_cast<std::ptrdiff_t>(count), out.end(), 0);
}

}  // namespace tessera::engine
