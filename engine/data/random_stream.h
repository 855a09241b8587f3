// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Random numbers that belong to elements of tensors, not to ranks: value i of a stream is a
/// function of (seed, purpose, tensor name, i), so every cut of a tensor sees the same values.

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "ptc/digest.h"

namespace tessera::engine {

/// Streams of different purposes are independent. The values for a seed must never change.
enum class RandomPurpose : std::uint64_t {
  kInitialise = 1,
  kDropout = 2,
  kDataOrder = 3,
  kJob = 4
};

/// The key of all streams of one purpose under one seed.
constexpr std::uint64_t StreamKey(std::int64_t seed, RandomPurpose purpose) {
  return ptc::Mix(ptc::Mix(static_cast<std::uint64_t>(seed) + 0x9e3779b97f4a7c15ULL) +
                  static_cast<std::uint64_t>(purpose));
}
/// Splits a word as Philox takes it: the lower half first.
constexpr std::array<std::uint32_t, 2> Halves(std::uint64_t word) {
  return {static_cast<std::uint32_t>(word), static_cast<std::uint32_t>(word >> 32)};
}

/// \threadsafety Immutable.
class RandomStream {
 public:
  RandomStream(std::int64_t seed, RandomPurpose purpose, std::string_view tensor);

  /// Returns standard normal numbers for the elements of block `block`: elements 4 * block to 4 *
  /// block + 3. Computed with additions, products, quotients and square roots only, so the bits do
  /// not depend on a mathematics library.
  std::array<float, 4> NormalBlock(std::uint64_t block) const;
  /// Returns the number of one element.
  /// \pre element >= 0
  float Normal(std::int64_t element) const {
    const auto index = static_cast<std::uint64_t>(element);
    return NormalBlock(index / 4)[index % 4];
  }
  /// Fills in the numbers of consecutive elements.
  /// \pre first_element >= 0
  void Normal(std::int64_t first_element, std::span<float> out) const;

 private:
  std::array<std::uint32_t, 2> key_;
  std::array<std::uint32_t, 2> tensor_;
};

/// Fills in uniform numbers in [0, 1), multiples of 2^-24, for consecutive elements of the tensor
/// of one sample, from `first_element` of the uncut tensor: a function of (seed, name, sample,
/// element). `sample` counts the samples of the whole run, as in DropoutMask. For random numbers of
/// a job other than dropout.
/// \pre first_element >= 0
/// \threadsafety Pure.
void UniformNumbers(std::int64_t seed, std::string_view name, std::int64_t sample,
                    std::int64_t first_element, std::span<float> out);

}  // namespace tessera::engine
