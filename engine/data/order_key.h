// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Keys of the orders in which samples are visited.

#include <cstdint>

#include "engine/data/random_stream.h"
#include "ptc/digest.h"

namespace tessera::engine {

/// Returns the key of the permutation of one part of a data mix in one of its passes. The values
/// for a seed must never change.
constexpr std::uint64_t OrderKey(std::int64_t seed, std::int64_t pass, int part = 0) {
  constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15ULL;
  const std::uint64_t key =
      ptc::Mix(StreamKey(seed, RandomPurpose::kDataOrder) + static_cast<std::uint64_t>(pass));
  return part == 0 ? key : ptc::Mix(key + kGolden * static_cast<std::uint64_t>(part));
}

}  // namespace tessera::engine
