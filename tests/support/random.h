// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Seeded randomness for property tests. TESSERA_TEST_SEED=n replays a failure.

#include <cstdint>
#include <random>

#include "ptc/box.h"

namespace tessera::test {
/// The seed of this run, printed once to stdout.
std::uint64_t Seed();
/// A box of the given rank with coordinates in [0, limit).
ptc::Box AnyBox(std::mt19937_64& rng, int rank, std::int64_t limit);
}  // namespace tessera::test
