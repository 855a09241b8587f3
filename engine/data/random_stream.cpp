// SPDX-License-Identifier: Apache-2.0

// Compiled with -ffp-contract=off: without fused multiply-adds every machine rounds alike.
#include "engine/data/random_stream.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

#include "engine/data/philox.h"
#include "engine/update/exact_math.h"

namespace tessera::engine {
namespace {

/// FNV-1a, 64 bits.
std::uint64_t HashName(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : name) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  }
  return hash;
}

/// Returns the natural logarithm of x in (0, 1]: the series of 2 artanh((m - 1) / (m + 1)) for the
/// mantissa m, plus the exponent times ln 2.
double Log(double x) {
  int exponent = 0;
  double mantissa = std::frexp(x, &exponent);
  if (mantissa < 1.0 / std::numbers::sqrt2) {
    mantissa *= 2;
    --exponent;
  }
  const double s = (mantissa - 1) / (mantissa + 1);  // |s| < 0.172: 12 terms give 1e-18
  double series = 0;
  for (int k = 23; k >= 1; k -= 2) series = series * (s * s) + 1.0 / k;
  return 2 * s * series + exponent * std::numbers::ln2;
}

/// Returns a word as a number in (0, 1), exact.
double Uniform(std::uint32_t word) { return (static_cast<double>(word) + 0.5) * 0x1p-32; }

}  // namespace

RandomStream::RandomStream(std::int64_t seed, RandomPurpose purpose, std::string_view tensor)
    : key_(Halves(StreamKey(seed, purpose))), tensor_(Halves(HashName(tensor))) {}

std::array<float, 4> RandomStream::NormalBlock(std::uint64_t block) const {
  const auto index = Halves(block);
  const auto words = Philox4x32({index[0], index[1], tensor_[0], tensor_[1]}, key_);
  std::array<float, 4> values{};
  for (std::size_t pair = 0; pair < 2; ++pair) {  // Box and Muller 1958
    const double radius = std::sqrt(-2 * Log(Uniform(words[2 * pair])));
    const CosSin angle = CosSinOfTurns(Uniform(words[2 * pair + 1]));
    values[2 * pair] = static_cast<float>(radius * angle.cos);
    values[2 * pair + 1] = static_cast<float>(radius * angle.sin);
  }
  return values;
}

void RandomStream::Normal(std::int64_t first_element, std::span<float> out) const {
  auto element = static_cast<std::uint64_t>(first_element);
  while (!out.empty()) {
    const auto block = NormalBlock(element / 4);
    const auto skipped = static_cast<std::size_t>(element % 4);
    const std::size_t count = std::min(out.size(), block.size() - skipped);
    std::copy_n(block.begin() + static_cast<std::ptrdiff_t>(skipped), count, out.begin());
    out = out.subspan(count);
    element += count;
  }
}

void UniformNumbers(std::int64_t seed, std::string_view name, std::int64_t sample,
                    std::int64_t first_element, std::span<float> out) {
  const auto key = Halves(ptc::Mix(StreamKey(seed, RandomPurpose::kJob) + HashName(name)));
  const auto of_sample = Halves(static_cast<std::uint64_t>(sample));
  auto element = static_cast<std::uint64_t>(first_element);
  while (!out.empty()) {
    const auto block = Halves(element / 4);
    const auto words = Philox4x32({block[0], block[1], of_sample[0], of_sample[1]}, key);
    std::size_t word = static_cast<std::size_t>(element % 4);
    for (; word < words.size() && !out.empty(); ++word, ++element, out = out.subspan(1)) {
      out[0] = static_cast<float>(words[word] >> 8) * 0x1p-24F;
    }
  }
}

}  // namespace tessera::engine
