// SPDX-License-Identifier: Apache-2.0
// The digest of consecutive bytes, in plain C++ and with the vector instructions of x86-64. One
// product of 32 x 32 bits per word, and one Mix per block of 64 words.
#include <algorithm>
#include <bit>
#include <cstring>

#include "ptc/digest.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tessera::ptc {
namespace {

static_assert(std::endian::native == std::endian::little, "words are read from memory as they are");

constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15ULL;  // between words of a block
constexpr std::uint64_t kBlockWords = 64;
constexpr std::int64_t kWordBytes = 4;

/// The number of which word `at` of a block has the upper half as its factor.
constexpr std::uint64_t FactorSource(std::uint64_t block, std::uint64_t at) {
  return Mix(block + 1) + at * kStep;
}

constexpr std::uint64_t Product(std::uint32_t word, std::uint64_t factor_source) {
  return word * ((factor_source >> 32) | 1);
}

/// The words [at, at + words) of one block.
inline std::uint64_t SumBlock(std::uint64_t block, std::uint64_t at, const std::byte* data,
                              std::int64_t words) {
  std::uint64_t factor = FactorSource(block, at);
  std::uint64_t sum = 0;
  for (std::int64_t i = 0; i < words; ++i, factor += kStep) {
    std::uint32_t word = 0;
    std::memcpy(&word, data + i * kWordBytes, sizeof(word));
    sum += Product(word, factor);
  }
  return sum;
}

/// Bytes of one word that a cut divides.
/// \pre bytes is at most what is left of the word at `first_byte`
std::uint64_t SumDivided(std::uint64_t first_byte, const std::byte* data, std::int64_t bytes) {
  std::uint32_t value = 0;
  std::memcpy(&value, data, static_cast<std::size_t>(bytes));
  const std::uint64_t word = first_byte / kWordBytes;
  return Product(value << (8 * (first_byte % kWordBytes)),
                 FactorSource(word / kBlockWords, word % kBlockWords));
}

/// Splits a run into divided words at its ends and whole words between.
template <std::uint64_t (*SumWords)(std::uint64_t, const std::byte*, std::int64_t)>
std::uint64_t Run(std::uint64_t first_byte, std::span<const std::byte> bytes) {
  const std::byte* data = bytes.data();
  std::int64_t left = std::ssize(bytes);
  std::uint64_t sum = 0;
  if (const auto inside = static_cast<std::int64_t>(first_byte % kWordBytes); inside != 0) {
    const std::int64_t head = std::min(left, kWordBytes - inside);
    sum += SumDivided(first_byte, data, head);
    first_byte += static_cast<std::uint64_t>(head);
    data += head;
    left -= head;
  }
  const std::int64_t words = left / kWordBytes;
  sum += SumWords(first_byte / kWordBytes, data, words);
  const std::int64_t tail = left % kWordBytes;
  if (tail == 0) return sum;
  const std::int64_t whole = words * kWordBytes;
  return sum + SumDivided(first_byte + static_cast<std::uint64_t>(whole), data + whole, tail);
}

std::uint64_t SumPortable(std::uint64_t word, const std::byte* data, std::int64_t words) {
  std::uint64_t sum = 0;
  while (words > 0) {
    const std::uint64_t at = word % kBlockWords;
    const auto count = std::min(words, static_cast<std::int64_t>(kBlockWords - at));
    sum += SumBlock(word / kBlockWords, at, data, count);
    word += static_cast<std::uint64_t>(count);
    data += count * kWordBytes;
    words -= count;
  }
  return sum;
}

#if defined(__x86_64__)

/// Factors of words 0, 2, 4, … of a vector. Those of 1, 3, 5, … are one step further.
__attribute__((target("avx2"))) std::uint64_t SumAvx2(std::uint64_t word, const std::byte* data,
                                                      std::int64_t words) {
  constexpr std::int64_t kLanes = 8;
  const __m256i one = _mm256_set1_epi64x(1);
  const __m256i offsets =
      _mm256_setr_epi64x(0, static_cast<long long>(2 * kStep), static_cast<long long>(4 * kStep),
                         static_cast<long long>(6 * kStep));
  const __m256i step = _mm256_set1_epi64x(static_cast<long long>(kStep));
  const __m256i stride = _mm256_set1_epi64x(static_cast<long long>(kLanes * kStep));
  __m256i even_sum = _mm256_setzero_si256();
  __m256i odd_sum = _mm256_setzero_si256();
  std::uint64_t rest_sum = 0;
  while (words > 0) {
    const std::uint64_t block = word / kBlockWords;
    const std::uint64_t at = word % kBlockWords;
    const auto count = std::min(words, static_cast<std::int64_t>(kBlockWords - at));
    const std::uint64_t source = FactorSource(block, at);
    __m256i even = _mm256_add_epi64(_mm256_set1_epi64x(static_cast<long long>(source)), offsets);
    __m256i odd = _mm256_add_epi64(even, step);
    std::int64_t i = 0;
    for (; i + kLanes <= count; i += kLanes) {
      const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(data + i * kWordBytes));
      even_sum = _mm256_add_epi64(
          even_sum, _mm256_mul_epu32(x, _mm256_or_si256(_mm256_srli_epi64(even, 32), one)));
      odd_sum = _mm256_add_epi64(
          odd_sum, _mm256_mul_epu32(_mm256_srli_epi64(x, 32),
                                    _mm256_or_si256(_mm256_srli_epi64(odd, 32), one)));
      even = _mm256_add_epi64(even, stride);
      odd = _mm256_add_epi64(odd, stride);
    }
    if (i < count) {
      rest_sum +=
          SumBlock(block, at + static_cast<std::uint64_t>(i), data + i * kWordBytes, count - i);
    }
    word += static_cast<std::uint64_t>(count);
    data += count * kWordBytes;
    words -= count;
  }
  alignas(32) std::uint64_t lanes[4];
  _mm256_store_si256(reinterpret_cast<__m256i*>(lanes), _mm256_add_epi64(even_sum, odd_sum));
  return lanes[0] + lanes[1] + lanes[2] + lanes[3] + rest_sum;
}

__attribute__((target("avx512f"))) std::uint64_t SumAvx512(std::uint64_t word,
                                                           const std::byte* data,
                                                           std::int64_t words) {
  constexpr std::int64_t kLanes = 16;
  const __m512i one = _mm512_set1_epi64(1);
  const __m512i offsets = _mm512_mullox_epi64(_mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14),
                                              _mm512_set1_epi64(static_cast<long long>(kStep)));
  const __m512i step = _mm512_set1_epi64(static_cast<long long>(kStep));
  const __m512i stride = _mm512_set1_epi64(static_cast<long long>(kLanes * kStep));
  __m512i even_sum = _mm512_setzero_si512();
  __m512i odd_sum = _mm512_setzero_si512();
  while (words > 0) {
    const std::uint64_t at = word % kBlockWords;
    const auto count = std::min(words, static_cast<std::int64_t>(kBlockWords - at));
    const std::uint64_t source = FactorSource(word / kBlockWords, at);
    __m512i even = _mm512_add_epi64(_mm512_set1_epi64(static_cast<long long>(source)), offsets);
    __m512i odd = _mm512_add_epi64(even, step);
    for (std::int64_t i = 0; i < count; i += kLanes) {
      const std::int64_t rest = count - i;
      const auto mask = static_cast<__mmask16>(rest < kLanes ? (1U << rest) - 1 : 0xffffU);
      const __m512i x = _mm512_maskz_loadu_epi32(mask, data + i * kWordBytes);
      even_sum = _mm512_add_epi64(
          even_sum, _mm512_mul_epu32(x, _mm512_or_si512(_mm512_srli_epi64(even, 32), one)));
      odd_sum = _mm512_add_epi64(
          odd_sum, _mm512_mul_epu32(_mm512_srli_epi64(x, 32),
                                    _mm512_or_si512(_mm512_srli_epi64(odd, 32), one)));
      even = _mm512_add_epi64(even, stride);
      odd = _mm512_add_epi64(odd, stride);
    }
    word += static_cast<std::uint64_t>(count);
    data += count * kWordBytes;
    words -= count;
  }
  alignas(64) std::uint64_t lanes[8];
  _mm512_store_si512(lanes, _mm512_add_epi64(even_sum, odd_sum));
  std::uint64_t sum = 0;
  for (const std::uint64_t lane : lanes) sum += lane;
  return sum;
}

#endif

std::vector<DigestForm> FormsOfThisMachine() {
  std::vector<DigestForm> forms = {{"portable", Run<SumPortable>}};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) forms.push_back({"AVX2", Run<SumAvx2>});
  if (__builtin_cpu_supports("avx512f")) forms.push_back({"AVX-512", Run<SumAvx512>});
#endif
  return forms;
}

}  // namespace

std::span<const DigestForm> DigestForms() {
  static const std::vector<DigestForm> forms = FormsOfThisMachine();
  return forms;
}

std::uint64_t DigestRun(std::uint64_t first_byte, std::span<const std::byte> bytes) {
  static const auto fastest = DigestForms().back().run;
  return fastest(first_byte, bytes);
}

}  // namespace tessera::ptc
