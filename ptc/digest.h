// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The layout-independent digest of a tensor: over the 32-bit little-endian words w of its
/// row-major bytes, whatever its dtype, the sum of value(w) * factor(w) mod 2^64, where
///
///     factor(w) = (the upper 32 bits of Mix(w / 64 + 1) + w % 64 * 0x9e3779b97f4a7c15) | 1
///
/// A word that a cut divides is the sum of its bytes in place, so the digests of parts on different
/// devices add up, cut at any byte. What it finds and misses is stated in ptc/FORMAT.md. It is not
/// made against an adversary, who knows the factors. Zeros add nothing: the digest of a tensor of
/// zeros is 0.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ptc/box.h"
#include "ptc/dtype.h"
#include "ptc/tensor_spec.h"

namespace tessera::ptc {

/// The name that stands beside stored digests.
inline constexpr std::string_view kDigestAlgorithm = "linear32-1";

/// The finalizer of splitmix64.
constexpr std::uint64_t Mix(std::uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebULL;
  x ^= x >> 31;
  return x;
}

/// The digest of consecutive bytes of a tensor, of which the first has the row-major offset
/// `first_byte`. Memory need not be aligned.
std::uint64_t DigestRun(std::uint64_t first_byte, std::span<const std::byte> bytes);

/// The digest of the elements of `cell`, which are read from the row-major memory of `piece`.
/// `data` is the first element of `piece`, `shape` is that of the uncut tensor.
/// \pre Contains(piece, cell); piece is inside shape
std::uint64_t DigestBox(DType dtype, const Shape& shape, const Box& piece, const std::byte* data,
                        const Box& cell);

/// The forms of DigestRun that this machine can execute, which compute the same. DigestRun is the
/// last one, which is the fastest.
struct DigestForm {
  std::string_view name;
  std::uint64_t (*run)(std::uint64_t first_byte, std::span<const std::byte> bytes);
};
std::span<const DigestForm> DigestForms();

/// xxh3-64 of the sorted lines `name dtype [d0,d1,…] digest\n`.
/// \pre digests.size() == collection.tensors().size(), in the same order
std::uint64_t CollectionDigest(const Collection& collection,
                               const std::vector<std::uint64_t>& digests);

}  // namespace tessera::ptc
