// SPDX-License-Identifier: Apache-2.0
#include "engine/update/bfloat16.h"

#include "ptc/base/check.h"
#include "ptc/convert.h"

namespace tessera::engine {

void RoundToBf16(std::span<const float> from, std::span<std::uint16_t> to) {
  TESSERA_CHECK(from.size() == to.size());
  ptc::Convert(ptc::DType::kF32, std::as_bytes(from).data(), ptc::DType::kBF16,
               std::as_writable_bytes(to).data(), std::ssize(from));
}

void WidenFromBf16(std::span<const std::uint16_t> from, std::span<float> to) {
  TESSERA_CHECK(from.size() == to.size());
  ptc::Convert(ptc::DType::kBF16, std::as_bytes(from).data(), ptc::DType::kF32,
               std::as_writable_bytes(to).data(), std::ssize(from));
}

}  // namespace tessera::engine
