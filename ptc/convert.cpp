// SPDX-License-Identifier: Apache-2.0
#include "ptc/convert.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "ptc/base/check.h"

namespace tessera::ptc {
namespace {

/// Everything is converted through f32, block by block. The loops have no branches, so the compiler
/// vectorizes them.
constexpr std::size_t kBlock = 1024;
using Floats = std::array<float, kBlock>;

constexpr std::uint32_t kSign32 = 0x80000000U;
constexpr std::uint32_t kInfinity32 = 0x7f800000U;
constexpr std::uint32_t kQuiet32 = 0x00400000U;

/// A binary format of 8 or 16 bits: sign, exponent and fraction, from the highest bit.
template <typename BitsT, int kExponentBits, int kFractionBits, bool kHasInfinity,
          std::uint32_t kNanCode>
struct Format {
  using Bits = BitsT;
  static constexpr std::uint32_t kBias = (1U << (kExponentBits - 1)) - 1;
  static constexpr int kShift = 23 - kFractionBits;  // the extra fraction bits of an f32
  static constexpr std::uint32_t kSignBit = 1U << (kExponentBits + kFractionBits);
  static constexpr std::uint32_t kRebias = (127 - kBias) << 23;
  static constexpr std::uint32_t kTopExponent = ((1U << kExponentBits) - 1) << kFractionBits;
  /// The result for magnitudes above the largest: infinity, or the NaN if there is no infinity.
  static constexpr std::uint32_t kOverflow = kHasInfinity ? kTopExponent : kNanCode;

  static Bits FromFloat(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t magnitude = bits & ~kSign32;
    // Normal: add half a unit of the last place that stays, less one if that place is even.
    const std::uint32_t odd = magnitude >> kShift & 1U;
    const std::uint32_t normal = (magnitude - kRebias + ((1U << (kShift - 1)) - 1) + odd) >> kShift;
    // Subnormal: add to a number whose last place is the smallest subnormal; the sum rounds.
    constexpr std::uint32_t kMagic = kRebias + ((static_cast<std::uint32_t>(kShift) + 1) << 23);
    const float sum = std::bit_cast<float>(magnitude) + std::bit_cast<float>(kMagic);
    const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(sum) - kMagic;
    std::uint32_t code = magnitude < kRebias + (1U << 23) ? subnormal : normal;
    code = std::min(code, kOverflow);
    code = magnitude > kInfinity32 ? kNanCode : code;
    return static_cast<Bits>(code | ((bits & kSign32) != 0 ? kSignBit : 0U));
  }

  static float ToFloat(Bits stored) {
    const std::uint32_t code = stored & (kSignBit - 1);
    const std::uint32_t sign = (stored & kSignBit) != 0 ? kSign32 : 0U;
    const std::uint32_t normal = (code << kShift) + kRebias;
    constexpr std::uint32_t kUnit =
        kRebias - ((static_cast<std::uint32_t>(kFractionBits) - 1) << 23);
    const float subnormal =
        static_cast<float>(static_cast<std::int32_t>(code)) * std::bit_cast<float>(kUnit);
    std::uint32_t bits =
        code < (1U << kFractionBits) ? std::bit_cast<std::uint32_t>(subnormal) : normal;
    if constexpr (kHasInfinity) {
      bits = code == kTopExponent ? kInfinity32 : bits;
      bits = code > kTopExponent ? kInfinity32 | kQuiet32 | code << kShift : bits;
    } else {
      bits = code == kNanCode ? kInfinity32 | kQuiet32 : bits;
    }
    return std::bit_cast<float>(bits | sign);
  }
};

using F8E4M3 = Format<std::uint8_t, 4, 3, false, 0x7f>;
using F8E5M2 = Format<std::uint8_t, 5, 2, true, 0x7f>;
using F16 = Format<std::uint16_t, 5, 10, true, 0x7e00>;

/// The upper half of an f32.
struct BF16 {
  using Bits = std::uint16_t;
  static Bits FromFloat(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t rounded = (bits + 0x7fffU + (bits >> 16 & 1U)) >> 16;
    const std::uint32_t nan = (bits & kSign32) >> 16 | 0x7fc0U;
    return static_cast<Bits>((bits & ~kSign32) > kInfinity32 ? nan : rounded);
  }
  static float ToFloat(Bits stored) {
    const std::uint32_t bits = static_cast<std::uint32_t>(stored) << 16;
    const bool is_nan = (bits & ~kSign32) > kInfinity32;
    return std::bit_cast<float>(is_nan ? bits | kQuiet32 : bits);
  }
};

struct F32 {
  using Bits = float;
  static Bits FromFloat(float value) { return value; }
  static float ToFloat(Bits stored) { return stored; }
};

struct F64 {
  using Bits = double;
  static Bits FromFloat(float value) { return static_cast<double>(value); }
  static float ToFloat(Bits stored) { return static_cast<float>(stored); }
};

/// Converts f64 to f32 before a conversion to fewer bits. The value is truncated, and its last bit
/// is set if bits were lost, so that the second rounding knows the side of a tie (Boldo and
/// Melquiond, "Emulation of a FMA and correctly rounded sums", IEEE Trans. Computers 57(4), 2008,
/// section 3).
struct F64ToOdd {
  using Bits = double;
  static float ToFloat(Bits value) {
    const auto near = static_cast<float>(value);
    const auto back = static_cast<double>(near);
    const auto bits = std::bit_cast<std::uint32_t>(near);
    const double size = back < 0 ? -back : back;
    const double wanted = value < 0 ? -value : value;
    const std::uint32_t cut_off = (size > wanted ? bits - 1 : bits) | 1U;
    const bool is_exact = back == value || value != value;  // a NaN counts as exact
    return std::bit_cast<float>(is_exact ? bits : cut_off);
  }
};

using Load = void (*)(const std::byte*, std::size_t, Floats&);
using Store = void (*)(const Floats&, std::size_t, std::byte*);

template <typename T>
void LoadAs(const std::byte* source, std::size_t count, Floats& out) {
  std::array<typename T::Bits, kBlock> in;
  std::memcpy(in.data(), source, count * sizeof(typename T::Bits));
  for (std::size_t i = 0; i < count; ++i) out[i] = T::ToFloat(in[i]);
}

template <typename T>
void StoreAs(const Floats& in, std::size_t count, std::byte* target) {
  std::array<typename T::Bits, kBlock> out;
  for (std::size_t i = 0; i < count; ++i) out[i] = T::FromFloat(in[i]);
  std::memcpy(target, out.data(), count * sizeof(typename T::Bits));
}

Load LoadOf(DType from, DType to) {
  switch (from) {
    case DType::kF8E4M3:
      return LoadAs<F8E4M3>;
    case DType::kF8E5M2:
      return LoadAs<F8E5M2>;
    case DType::kF16:
      return LoadAs<F16>;
    case DType::kBF16:
      return LoadAs<BF16>;
    case DType::kF32:
      return LoadAs<F32>;
    default:
      return to == DType::kF32 ? LoadAs<F64> : LoadAs<F64ToOdd>;
  }
}

Store StoreOf(DType to) {
  switch (to) {
    case DType::kF8E4M3:
      return StoreAs<F8E4M3>;
    case DType::kF8E5M2:
      return StoreAs<F8E5M2>;
    case DType::kF16:
      return StoreAs<F16>;
    case DType::kBF16:
      return StoreAs<BF16>;
    case DType::kF32:
      return StoreAs<F32>;
    default:
      return StoreAs<F64>;
  }
}

}  // namespace

bool IsFloat(DType dtype) {
  switch (dtype) {
    case DType::kF8E4M3:
    case DType::kF8E5M2:
    case DType::kF16:
    case DType::kBF16:
    case DType::kF32:
    case DType::kF64:
      return true;
    default:
      return false;
  }
}

void Convert(DType from, const std::byte* source, DType to, std::byte* target, std::int64_t count) {
  if (from == to) {
    if (count > 0) std::memcpy(target, source, static_cast<std::size_t>(count * SizeBytes(to)));
    return;
  }
  TESSERA_CHECK(IsFloat(from) && IsFloat(to));
  const Load load = LoadOf(from, to);
  const Store store = StoreOf(to);
  Floats block;
  auto left = static_cast<std::size_t>(count);
  while (left > 0) {
    const std::size_t some = std::min(left, kBlock);
    load(source, some, block);
    store(block, some, target);
    source += some * static_cast<std::size_t>(SizeBytes(from));
    target += some * static_cast<std::size_t>(SizeBytes(to));
    left -= some;
  }
}

}  // namespace tessera::ptc
