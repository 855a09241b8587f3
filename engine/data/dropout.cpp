// SPDX-License-Identifier: Apache-2.0

// Compiled with -O3, which unrolls the loops over pairs (half the time of -O2).
#include "engine/data/dropout.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "engine/data/philox.h"
#include "engine/data/random_stream.h"
#include "ptc/base/check.h"
#include "ptc/digest.h"

namespace tessera::engine {
namespace {

// Philox runs on two counters at once, each in the lower half of a 64-bit lane. The product of a
// round is then in place, and no lane is ever moved. The upper halves do not matter. A word is two
// elements of 16 bits. The order of the elements is that of the computation: element w * 16 + 2 * c
// + h of a group of 64 is half h of word w of the group's counter c.
constexpr std::size_t kGroup = 64;
constexpr std::size_t kPairs = 4;  // of counters in a group
using Pair = std::uint64_t __attribute__((vector_size(16)));
using Quad = std::int32_t __attribute__((vector_size(16)));
static_assert(std::endian::native == std::endian::little);

/// Returns the lower halves times `factor`.
Pair Product(Pair pair, std::uint64_t factor) {
#ifdef __SSE2__
  return reinterpret_cast<Pair>(_mm_mul_epu32(reinterpret_cast<__m128i>(pair),
                                              reinterpret_cast<__m128i>(Pair{factor, factor})));
#else
  return (pair & 0xffffffff) * factor;
#endif
}

using Words = std::array<Pair, 4>;

/// Computes Philox4x32 for the counters of all pairs. One pair waits for its products; several
/// pairs side by side keep the multiplier busy.
template <std::size_t kSize>
void PhiloxOfPairs(std::array<Words, kSize>& pairs, std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    for (Words& words : pairs) {
      const Pair product0 = Product(words[0], 0xD2511F53);
      const Pair product1 = Product(words[2], 0xCD9E8D57);
      words = {(product1 >> 32) ^ words[1] ^ key[0], product1, (product0 >> 32) ^ words[3] ^ key[1],
               product0};
    }
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
}

struct Source {
  std::array<std::uint32_t, 2> key;
  std::array<std::uint32_t, 2> sample;
  std::int32_t threshold;  // 16-bit numbers below are dropped
  std::int32_t kept;       // bits of the factor of elements that are not
};

void FillGroup(const Source& source, std::uint64_t group, float* out) {
  constexpr std::size_t kAbreast = 2;
  for (std::size_t begin = 0; begin < kPairs; begin += kAbreast) {
    std::array<Words, kAbreast> pairs;
    for (std::size_t i = 0; i < kAbreast; ++i) {
      const std::uint64_t counter = 2 * (group * kPairs + begin + i);
      pairs[i] = {Pair{counter, counter + 1}, Pair{counter >> 32, counter >> 32},
                  Pair{source.sample[0], source.sample[0]},
                  Pair{source.sample[1], source.sample[1]}};
    }
    PhiloxOfPairs(pairs, source.key);
    for (std::size_t i = 0; i < kAbreast; ++i) {
      for (std::size_t w = 0; w < 4; ++w) {
        const Pair halves = (pairs[i][w] & 0xffff) | ((pairs[i][w] & 0xffff0000) << 16);
        const Quad values = (reinterpret_cast<Quad>(halves) >= source.threshold) & source.kept;
        std::memcpy(out + w * kGroup / 4 + (begin + i) * 4, &values, sizeof values);
      }
    }
  }
}

}  // namespace

void DropoutMask(std::int64_t seed, std::uint64_t site, std::int64_t sample,
                 std::int64_t first_element, double probability, std::span<float> out) {
  TESSERA_CHECK(first_element >= 0 && probability >= 0 && probability < 1);
  const Source source{
      .key = Halves(ptc::Mix(StreamKey(seed, RandomPurpose::kDropout) + site)),
      .sample = Halves(static_cast<std::uint64_t>(sample)),
      .threshold = static_cast<std::int32_t>(std::lround(probability * 65536)),
      .kept = std::bit_cast<std::int32_t>(static_cast<float>(1 / (1 - probability)))};
  auto element = static_cast<std::uint64_t>(first_element);
  float* next = out.data();
  std::size_t left = out.size();
  while (left > 0) {
    const auto skipped = static_cast<std::size_t>(element % kGroup);
    const std::size_t count = std::min(left, kGroup - skipped);
    if (count == kGroup) {
      FillGroup(source, element / kGroup, next);
    } else {
      std::array<float, kGroup> group;
      FillGroup(source, element / kGroup, group.data());
      std::copy_n(group.begin() + static_cast<std::ptrdiff_t>(skipped), count, next);
    }
    element += count;
    next += count;
    left -= count;
  }
}

}  // namespace tessera::engine
