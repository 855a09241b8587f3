// SPDX-License-Identifier: Apache-2.0
#include "ptc/dtype.h"

#include <fmt/format.h>

#include <array>

#include "ptc/base/utf8.h"

namespace tessera::ptc {
namespace {

struct DTypeRow {
  DType dtype;
  std::string_view name;
  std::int64_t size_bits;
};

constexpr std::array<DTypeRow, kNumDTypes> kDTypes{{{DType::kBool, "bool", 8},
                                                    {DType::kU8, "u8", 8},
                                                    {DType::kI8, "i8", 8},
                                                    {DType::kF8E4M3, "f8e4m3", 8},
                                                    {DType::kF8E5M2, "f8e5m2", 8},
                                                    {DType::kU16, "u16", 16},
                                                    {DType::kI16, "i16", 16},
                                                    {DType::kF16, "f16", 16},
                                                    {DType::kBF16, "bf16", 16},
                                                    {DType::kU32, "u32", 32},
                                                    {DType::kI32, "i32", 32},
                                                    {DType::kF32, "f32", 32},
                                                    {DType::kU64, "u64", 64},
                                                    {DType::kI64, "i64", 64},
                                                    {DType::kF64, "f64", 64},
                                                    {DType::kF8E8M0, "f8e8m0", 8},
                                                    {DType::kF8E4M3Fnuz, "f8e4m3fnuz", 8},
                                                    {DType::kF8E5M2Fnuz, "f8e5m2fnuz", 8},
                                                    {DType::kC64, "c64", 64},
                                                    {DType::kF4, "f4", 4},
                                                    {DType::kF6E2M3, "f6e2m3", 6},
                                                    {DType::kF6E3M2, "f6e3m2", 6}}};

constexpr bool RowsAreInEnumOrder() {
  for (std::size_t i = 0; i < kDTypes.size(); ++i) {
    if (static_cast<std::size_t>(kDTypes[i].dtype) != i) return false;
  }
  return true;
}
static_assert(RowsAreInEnumOrder());

const DTypeRow& RowOf(DType dtype) { return kDTypes[static_cast<std::size_t>(dtype)]; }

}  // namespace

std::string_view ToString(DType dtype) { return RowOf(dtype).name; }

Result<DType> ParseDType(std::string_view name) {
  for (const DTypeRow& row : kDTypes) {
    if (row.name == name) return row.dtype;
  }
  return InvalidArgument(fmt::format("unknown dtype '{}'", Escaped(name)));
}

std::int64_t SizeBits(DType dtype) { return RowOf(dtype).size_bits; }

bool IsPacked(DType dtype) { return SizeBits(dtype) < 8; }

std::int64_t SizeBytes(DType dtype) { return IsPacked(dtype) ? 1 : SizeBits(dtype) / 8; }

}  // namespace tessera::ptc
