// SPDX-License-Identifier: Apache-2.0
#include "engine/copy/checksum.h"

#include <xxhash.h>

namespace tessera::engine {

std::uint64_t Checksum(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

}  // namespace tessera::engine
