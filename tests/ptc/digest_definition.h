// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The digest of ptc/FORMAT.md, written down byte by byte, to compare the fast forms with.

#include <cstddef>
#include <cstdint>

namespace tessera::test {

/// What the byte at row-major offset `at` of a tensor adds to its digest.
constexpr std::uint64_t DigestOfByte(std::uint64_t at, std::byte byte) {
  const std::uint64_t word = at / 4;
  std::uint64_t mixed = word / 64 + 1;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ULL;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebULL;
  mixed ^= mixed >> 31;
  const std::uint64_t factor = ((mixed + word % 64 * 0x9e3779b97f4a7c15ULL) >> 32) | 1;
  return (std::to_integer<std::uint64_t>(byte) << (8 * (at % 4))) * factor;
}

}  // namespace tessera::test
