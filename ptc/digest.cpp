// SPDX-License-Identifier: Apache-2.0
#include "ptc/digest.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "ptc/layout.h"

namespace tessera::ptc {
namespace {

/// Elements are opaque bits, so only their size matters. `Bits` is the unsigned type of that size.
/// Memory need not be aligned.
template <typename Bits>
std::uint64_t SumPortable(std::uint64_t index, const std::byte* data, std::int64_t count) {
  std::uint64_t sum = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    Bits bits;
    std::memcpy(&bits, data + i * static_cast<std::int64_t>(sizeof(Bits)), sizeof(Bits));
    sum += Mix(Mix(index + static_cast<std::uint64_t>(i)) ^ bits);
  }
  return sum;
}

#if defined(__x86_64__)

#define TESSERA_AVX512 __attribute__((target("avx512f,avx512dq")))

/// Eight lanes in the compiler's vector types; avx512dq has the 64-bit multiply that Mix needs.
constexpr std::int64_t kLanes = 8;
template <typename T>
using Vector __attribute__((vector_size(kLanes * sizeof(T)))) = T;
using Lanes = Vector<std::uint64_t>;

TESSERA_AVX512 inline void MixLanes(Lanes& x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebULL;
  x ^= x >> 31;
}

/// Adds the terms of the eight elements at `data`, with the indices `at`, to `sum`.
template <typename Bits>
TESSERA_AVX512 inline void AddLanes(Lanes& sum, const Lanes& at, const std::byte* data) {
  Vector<Bits> bits;
  std::memcpy(&bits, data, sizeof(bits));
  Lanes x = at;
  MixLanes(x);
  x ^= __builtin_convertvector(bits, Lanes);
  MixLanes(x);
  sum += x;
}

template <typename Bits>
TESSERA_AVX512 std::uint64_t SumAvx512(std::uint64_t index, const std::byte* data,
                                       std::int64_t count) {
  constexpr std::int64_t kStride = kLanes * static_cast<std::int64_t>(sizeof(Bits));
  Lanes at0 = Lanes{0, 1, 2, 3, 4, 5, 6, 7} + index;
  Lanes at1 = at0 + static_cast<std::uint64_t>(kLanes);
  Lanes sum0{};
  Lanes sum1{};
  std::int64_t i = 0;
  // Two independent chains hide the latency of the multiply.
  for (; i + 2 * kLanes <= count; i += 2 * kLanes, data += 2 * kStride) {
    AddLanes<Bits>(sum0, at0, data);
    AddLanes<Bits>(sum1, at1, data + kStride);
    at0 += static_cast<std::uint64_t>(2 * kLanes);
    at1 += static_cast<std::uint64_t>(2 * kLanes);
  }
  sum0 += sum1;
  std::uint64_t sum = 0;
  for (int lane = 0; lane < kLanes; ++lane) sum += sum0[lane];
  return sum + SumPortable<Bits>(index + static_cast<std::uint64_t>(i), data, count - i);
}

bool HasAvx512() {
  static const bool has =
      __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512dq") != 0;
  return has;
}

template <typename Bits>
std::uint64_t Sum(std::uint64_t index, const std::byte* data, std::int64_t count) {
  return HasAvx512() ? SumAvx512<Bits>(index, data, count) : SumPortable<Bits>(index, data, count);
}

#else

template <typename Bits>
std::uint64_t Sum(std::uint64_t index, const std::byte* data, std::int64_t count) {
  return SumPortable<Bits>(index, data, count);
}

#endif

}  // namespace

std::uint64_t DigestRunPortable(DType dtype, std::uint64_t first_index, const std::byte* data,
                                std::int64_t count) {
  switch (SizeBytes(dtype)) {
    case 1:
      return SumPortable<std::uint8_t>(first_index, data, count);
    case 2:
      return SumPortable<std::uint16_t>(first_index, data, count);
    case 4:
      return SumPortable<std::uint32_t>(first_index, data, count);
    default:
      return SumPortable<std::uint64_t>(first_index, data, count);
  }
}

std::uint64_t DigestRun(DType dtype, std::uint64_t first_index, const std::byte* data,
                        std::int64_t count) {
  switch (SizeBytes(dtype)) {
    case 1:
      return Sum<std::uint8_t>(first_index, data, count);
    case 2:
      return Sum<std::uint16_t>(first_index, data, count);
    case 4:
      return Sum<std::uint32_t>(first_index, data, count);
    default:
      return Sum<std::uint64_t>(first_index, data, count);
  }
}

std::uint64_t DigestBox(DType dtype, const Shape& shape, const Box& piece, const std::byte* data,
                        const Box& cell) {
  TESSERA_DCHECK(Contains(piece, cell));
  const int rank = cell.rank();
  // Strides in elements: of the uncut tensor (indices) and of the piece (memory).
  std::array<std::int64_t, kMaxRank> index_stride{};
  std::array<std::int64_t, kMaxRank> memory_stride{};
  std::int64_t index_step = 1;
  std::int64_t memory_step = 1;
  std::int64_t index = 0;
  std::int64_t offset = 0;
  for (int d = rank - 1; d >= 0; --d) {
    const auto i = static_cast<std::size_t>(d);
    index_stride[i] = index_step;
    memory_stride[i] = memory_step;
    index += cell[d].begin * index_step;
    offset += (cell[d].begin - piece[d].begin) * memory_step;
    index_step *= shape[i];
    memory_step *= piece[d].size();
  }
  // A run extends over the dims that cell, piece and tensor all cover fully, and over one more.
  int outer = rank;
  std::int64_t run = 1;
  while (outer > 0) {
    --outer;
    run *= cell[outer].size();
    const std::int64_t whole = shape[static_cast<std::size_t>(outer)];
    if (cell[outer].size() != whole) break;
  }
  const std::int64_t size = SizeBytes(dtype);
  std::array<std::int64_t, kMaxRank> counter{};
  std::uint64_t sum = 0;
  while (true) {
    sum += DigestRun(dtype, static_cast<std::uint64_t>(index), data + offset * size, run);
    int d = outer - 1;
    for (; d >= 0; --d) {  // odometer over the outer dims
      const auto i = static_cast<std::size_t>(d);
      index += index_stride[i];
      offset += memory_stride[i];
      if (++counter[i] < cell[d].size()) break;
      index -= counter[i] * index_stride[i];
      offset -= counter[i] * memory_stride[i];
      counter[i] = 0;
    }
    if (d < 0) return sum;
  }
}

std::uint64_t CollectionDigest(const Collection& collection,
                               const std::vector<std::uint64_t>& digests) {
  TESSERA_CHECK(digests.size() == collection.tensors().size());
  std::vector<std::string> lines;
  for (std::size_t t = 0; t < digests.size(); ++t) {
    const TensorSpec& spec = collection.tensors()[t];
    lines.push_back(fmt::format("{} {} {} {}\n", spec.name, ToString(spec.dtype),
                                ToString(spec.shape), Hex16(digests[t])));
  }
  std::sort(lines.begin(), lines.end());  // not by name: a space ends a name here
  std::string text;
  for (const std::string& line : lines) text += line;
  return XXH3_64bits(text.data(), text.size());
}

}  // namespace tessera::ptc
