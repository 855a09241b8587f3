// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The layout-independent digest of a tensor: the sum over its elements of mix(mix(i) XOR bits(i))
/// mod 2^64. Here mix is the splitmix64 finalizer, i the row-major index in the uncut tensor, and
/// bits(i) the element zero-extended to 64 bits. Because it is a sum, the digests of parts on
/// different devices add up.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ptc/box.h"
#include "ptc/dtype.h"
#include "ptc/tensor_spec.h"

namespace tessera::ptc {

constexpr std::uint64_t Mix(std::uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebULL;
  x ^= x >> 31;
  return x;
}

/// The digest of the elements of `cell`, which are read from the row-major memory of `piece`.
/// `data` is the first element of `piece`, `shape` is that of the uncut tensor.
/// \pre Contains(piece, cell); piece is inside shape
std::uint64_t DigestBox(DType dtype, const Shape& shape, const Box& piece, const std::byte* data,
                        const Box& cell);

/// The digest of `count` consecutive elements from index `first_index` on. DigestRunPortable is the
/// portable loop, for tests and benchmarks. DigestRun uses AVX-512 if the machine has it.
std::uint64_t DigestRunPortable(DType dtype, std::uint64_t first_index, const std::byte* data,
                                std::int64_t count);
std::uint64_t DigestRun(DType dtype, std::uint64_t first_index, const std::byte* data,
                        std::int64_t count);

/// xxh3-64 of the sorted lines `name dtype [d0,d1,…] digest\n`.
/// \pre digests.size() == collection.tensors().size(), in the same order
std::uint64_t CollectionDigest(const Collection& collection,
                               const std::vector<std::uint64_t>& digests);

}  // namespace tessera::ptc
