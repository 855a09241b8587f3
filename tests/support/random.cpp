// SPDX-License-Identifier: Apache-2.0
#include "tests/support/random.h"

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace tessera::test {

std::uint64_t Seed() {
  static const std::uint64_t seed = [] {
    const char* text = std::getenv("TESSERA_TEST_SEED");
    const std::uint64_t value = text ? std::strtoull(text, nullptr, 10) : std::random_device{}();
    std::printf("seed %llu (replay with TESSERA_TEST_SEED)\n",
                static_cast<unsigned long long>(value));
    return value;
  }();
  return seed;
}

ptc::Box AnyBox(std::mt19937_64& rng, int rank, std::int64_t limit) {
  std::vector<ptc::Interval> dims;
  for (int d = 0; d < rank; ++d) {
    const auto n = static_cast<std::uint64_t>(limit);
    const auto begin = static_cast<std::int64_t>(rng() % n);
    const auto length =
        1 + static_cast<std::int64_t>(rng() % static_cast<std::uint64_t>(limit - begin));
    dims.push_back({begin, begin + length});
  }
  return *ptc::Box::Make(dims);
}

}  // namespace tessera::test
