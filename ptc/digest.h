// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The layout-independent digest: a sum over elements of
/// mix(mix(i) XOR bits(i)) mod 2^64 with the splitmix64 finalizer as mix, where i is the row-major
/// index in the uncut tensor and bits(i) the element zero-extended to 64 bits. Being a sum, parts
/// held by different devices add up.

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

/// Digest of the elements of `cell`, read from row-major memory of `piece` (`data` is the first
/// element of `piece`). `shape` is the uncut tensor.
/// \pre Contains(piece, cell), piece lies inside shape
std::uint64_t DigestBox(DType dtype, const Shape& shape, const Box& piece, const std::byte* data,
                        const Box& cell);

/// The portable loop and the AVX-512 loop behind DigestBox, for tests and benchmarks.
std::uint64_t DigestRunPortable(DType dtype, std::uint64_t first_index, const std::byte* data,
                                std::int64_t count);
std::uint64_t DigestRun(DType dtype, std::uint64_t first_index, const std::byte* data,
                        std::int64_t count);

/// xxh3-64 of the sorted lines `name dtype [d0,d1,…] digest\n`.
/// \pre digests.size() == collection.tensors().size(), in the same order
std::uint64_t CollectionDigest(const Collection& collection,
                               const std::vector<std::uint64_t>& digests);

}  // namespace tessera::ptc
