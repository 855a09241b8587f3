// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Element types of tensors, with the names used in text forms and digests.

#include <cstdint>
#include <string_view>

#include "ptc/base/result.h"

namespace tessera::ptc {

enum class DType : std::uint8_t {
  kBool,
  kU8,
  kI8,
  kF8E4M3,
  kF8E5M2,
  kU16,
  kI16,
  kF16,
  kBF16,
  kU32,
  kI32,
  kF32,
  kU64,
  kI64,
  kF64,
  // These are moved, compared and digested, but never computed with.
  kF8E8M0,
  kF8E4M3Fnuz,
  kF8E5M2Fnuz,
  kC64,
  // Elements below one byte: see ptc/packed.h.
  kF4,
  kF6E2M3,
  kF6E3M2
};
inline constexpr int kNumDTypes = static_cast<int>(DType::kF6E3M2) + 1;

/// "bool", "u8", "f8e4m3", "bf16", "f32", …
std::string_view ToString(DType dtype);
/// \error kInvalidArgument for an unknown name.
Result<DType> ParseDType(std::string_view name);
/// Size of one element in bits: 4, 6, 8, 16, 32 or 64.
std::int64_t SizeBits(DType dtype);
/// Whether an element is smaller than a byte.
bool IsPacked(DType dtype);
/// Size of one unit (ptc/packed.h) in bytes: 1 if IsPacked, else the size of an element, which is
/// 1, 2, 4 or 8.
std::int64_t SizeBytes(DType dtype);

}  // namespace tessera::ptc
