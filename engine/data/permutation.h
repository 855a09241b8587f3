// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A keyed permutation of [0, size) in O(1) memory: a balanced Feistel network over the next even
/// number of bits, repeated until the image is below size (Black and Rogaway, "Ciphers with
/// Arbitrary Finite Domains", CT-RSA 2002, section 4). It shuffles; it is not a cipher.

#include <array>
#include <cstdint>
#include <span>

#include "ptc/base/result.h"

namespace tessera::engine {

class Permutation {
 public:
  static constexpr std::int64_t kMaxSize = std::int64_t{1} << 40;

  /// \error kInvalidArgument if `size` is outside [1, kMaxSize].
  static Result<Permutation> Make(std::int64_t size, std::uint64_t key);

  std::int64_t size() const { return static_cast<std::int64_t>(size_); }
  /// Returns the image of `index`, after fewer than four network passes on average.
  /// \pre 0 <= index < size()
  std::int64_t operator()(std::int64_t index) const;
  /// Fills in the images of consecutive indices from `first`, several times as fast as one by one:
  /// the multiplications of one index wait for each other, those of many indices run side by side.
  /// \pre 0 <= first, first + out.size() <= size()
  void Fill(std::int64_t first, std::span<std::int64_t> out) const;

 private:
  static constexpr int kRounds = 6;
  Permutation() = default;
  std::uint64_t Encrypt(std::uint64_t block) const;

  std::uint64_t size_ = 1;
  int half_bits_ = 1;
  std::array<std::uint64_t, kRounds> round_keys_{};
};

}  // namespace tessera::engine
