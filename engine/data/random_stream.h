// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Random numbers that belong to elements of tensors, not to ranks: value i of a stream is a
/// function of (seed, purpose, tensor name, i), so every cut of a tensor sees the same values.

#include <array>
#include <cstdint>
#include <string_view>

namespace tessera::engine {

/// Streams of different purposes are independent. Values are part of what a seed means.
enum class RandomPurpose : std::uint64_t { kInitialise = 1 };

/// \threadsafety Immutable.
class RandomStream {
 public:
  RandomStream(std::int64_t seed, RandomPurpose purpose, std::string_view tensor);

  /// Standard normal number of each element of block `block`: elements 4 * block to 4 * block + 3.
  /// Computed with additions, products, quotients and square roots only, so that the bits depend on
  /// no mathematics library.
  std::array<float, 4> NormalBlock(std::uint64_t block) const;
  /// The number of one element. \pre element >= 0
  float Normal(std::int64_t element) const {
    const auto index = static_cast<std::uint64_t>(element);
    return NormalBlock(index / 4)[index % 4];
  }

 private:
  std::array<std::uint32_t, 2> key_;
  std::array<std::uint32_t, 2> tensor_;
};

}  // namespace tessera::engine
