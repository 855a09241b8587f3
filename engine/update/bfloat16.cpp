// SPDX-License-Identifier: Apache-2.0
#include "engine/update/bfloat16.h"

#include <bit>
#include <cstddef>

#include "ptc/base/check.h"

namespace tessera::engine {
namespace {

// Adding just under half a unit, and one more where the kept part is odd, carries into the kept
// part exactly where the value rounds up; an exponent that overflows becomes that of infinity.
std::uint16_t Round(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  const std::uint32_t quiet = (bits >> 16) | 0x40;
  const bool is_nan = (bits & 0x7fffffff) > 0x7f800000;
  return static_cast<std::uint16_t>(is_nan ? quiet : rounded);
}

}  // namespace

void RoundToBf16(std::span<const float> from, std::span<std::uint16_t> to) {
  TESSERA_CHECK(from.size() == to.size());
  const float* __restrict in = from.data();
  std::uint16_t* __restrict out = to.data();
  const std::size_t size = from.size();
  for (std::size_t i = 0; i < size; ++i) out[i] = Round(in[i]);
}

void WidenFromBf16(std::span<const std::uint16_t> from, std::span<float> to) {
  TESSERA_CHECK(from.size() == to.size());
  const std::uint16_t* __restrict in = from.data();
  float* __restrict out = to.data();
  const std::size_t size = from.size();
  for (std::size_t i = 0; i < size; ++i) out[i] = std::bit_cast<float>(std::uint32_t{in[i]} << 16);
}

}  // namespace tessera::engine
