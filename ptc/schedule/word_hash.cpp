// SPDX-License-Identifier: Apache-2.0
#include "ptc/schedule/word_hash.h"

#include <xxhash.h>

namespace tessera::ptc {

static_assert(std::endian::native == std::endian::little, "hashed words are little-endian");

std::uint64_t WordHash::Value() const {
  return XXH3_64bits(words_.data(), words_.size() * sizeof(words_[0]));
}

}  // namespace tessera::ptc
