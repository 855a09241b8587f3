// SPDX-License-Identifier: Apache-2.0
#include "engine/data/permutation.h"

#include <fmt/format.h>

#include <bit>

#include "ptc/digest.h"

namespace tessera::engine {

Result<Permutation> Permutation::Make(std::int64_t size, std::uint64_t key) {
  if (size < 1 || size > kMaxSize) {
    return InvalidArgument(
        fmt::format("cannot permute {} samples, the limits are 1 and {}", size, kMaxSize));
  }
  Permutation permutation;
  permutation.size_ = static_cast<std::uint64_t>(size);
  const int bits = std::max(2, static_cast<int>(std::bit_width(permutation.size_ - 1)));
  permutation.half_bits_ = (bits + 1) / 2;
  for (std::uint64_t& round_key : permutation.round_keys_) {
    key += 0x9e3779b97f4a7c15ULL;  // splitmix64: the golden-ratio sequence, mixed
    round_key = ptc::Mix(key);
  }
  return permutation;
}

std::uint64_t Permutation::Encrypt(std::uint64_t block) const {
  const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
  std::uint64_t left = block >> half_bits_;
  std::uint64_t right = block & mask;
  for (const std::uint64_t round_key : round_keys_) {
    const std::uint64_t next = left ^ (ptc::Mix(right ^ round_key) & mask);
    left = right;
    right = next;
  }
  return left << half_bits_ | right;
}

std::int64_t Permutation::operator()(std::int64_t index) const {
  TESSERA_DCHECK(0 <= index && index < size());
  // The cycle through `index` comes back into [0, size) at `index` at the latest.
  std::uint64_t block = static_cast<std::uint64_t>(index);
  do {
    block = Encrypt(block);
  } while (block >= size_);
  return static_cast<std::int64_t>(block);
}

}  // namespace tessera::engine
