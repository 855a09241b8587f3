// SPDX-License-Identifier: Apache-2.0
#include "engine/data/permutation.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstddef>

#include "ptc/digest.h"

namespace tessera::engine {
namespace {

constexpr std::size_t kBatch = 512;  // stays in the first-level cache

struct Network {
  std::array<std::uint64_t, 6> round_keys;
  int half_bits;
};

/// A loop without branches, which the compiler vectorizes for machines that multiply 64-bit lanes.
[[gnu::always_inline]] inline void EncryptLanes(const Network network, std::uint64_t* blocks,
                                                std::size_t count) {
  const std::uint64_t mask = (std::uint64_t{1} << network.half_bits) - 1;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t left = blocks[i] >> network.half_bits;
    std::uint64_t right = blocks[i] & mask;
#pragma GCC unroll 6
    for (std::size_t round = 0; round < 6; ++round) {
      const std::uint64_t next = left ^ (ptc::Mix(right ^ network.round_keys[round]) & mask);
      left = right;
      right = next;
    }
    blocks[i] = left << network.half_bits | right;
  }
}

void EncryptPortable(const Network& network, std::uint64_t* blocks, std::size_t count) {
  EncryptLanes(network, blocks, count);
}

#ifdef __x86_64__
[[gnu::target("avx512f,avx512dq")]] void EncryptWide(const Network& network, std::uint64_t* blocks,
                                                     std::size_t count) {
  EncryptLanes(network, blocks, count);
}
bool HasWideMultiply() {
  static const bool has =
      __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512dq") != 0;
  return has;
}
#endif

void EncryptMany(const Network& network, std::uint64_t* blocks, std::size_t count) {
#ifdef __x86_64__
  if (HasWideMultiply()) return EncryptWide(network, blocks, count);
#endif
  EncryptPortable(network, blocks, count);
}

}  // namespace

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
  // This ends: the cycle of `index` returns to `index`, which is below size.
  std::uint64_t block = static_cast<std::uint64_t>(index);
  do {
    block = Encrypt(block);
  } while (block >= size_);
  return static_cast<std::int64_t>(block);
}

void Permutation::Fill(std::int64_t first, std::span<std::int64_t> out) const {
  TESSERA_DCHECK(0 <= first && first + static_cast<std::int64_t>(out.size()) <= size());
  std::array<std::uint64_t, kBatch> blocks;
  std::array<std::uint32_t, kBatch> targets;
  while (!out.empty()) {
    const std::size_t count = std::min(out.size(), kBatch);
    for (std::size_t i = 0; i < count; ++i) {
      blocks[i] = static_cast<std::uint64_t>(first) + i;
      targets[i] = static_cast<std::uint32_t>(i);
    }
    // Pass all pending blocks through the network, and store each as the image of its index. Keep
    // those that are still outside [0, size) as pending, packed at the front; a later pass
    // overwrites what was stored for them. Storing always costs less than a branch that is often
    // mispredicted.
    for (std::size_t left = count; left > 0;) {
      EncryptMany({round_keys_, half_bits_}, blocks.data(), left);
      std::size_t outside = 0;
      for (std::size_t i = 0; i < left; ++i) {
        const std::uint64_t block = blocks[i];
        const std::uint32_t target = targets[i];
        out[target] = static_cast<std::int64_t>(block);
        blocks[outside] = block;
        targets[outside] = target;
        outside += static_cast<std::size_t>(block >= size_);
      }
      left = outside;
    }
    out = out.subspan(count);
    first += static_cast<std::int64_t>(count);
  }
}

}  // namespace tessera::engine
