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
  std::int64_t size_bytes;
};

constexpr std::array<DTypeRow, 15> kDTypes{{{DType::kBool, "bool", 1},
                                            {DType::kU8, "u8", 1},
                                            {DType::kI8, "i8", 1},
                                            {DType::kF8E4M3, "f8e4m3", 1},
                                            {DType::kF8E5M2, "f8e5m2", 1},
                                            {DType::kU16, "u16", 2},
                                            {DType::kI16, "i16", 2},
                                            {DType::kF16, "f16", 2},
                                            {DType::kBF16, "bf16", 2},
                                            {DType::kU32, "u32", 4},
                                            {DType::kI32, "i32", 4},
                                            {DType::kF32, "f32", 4},
                                            {DType::kU64, "u64", 8},
                                            {DType::kI64, "i64", 8},
                                            {DType::kF64, "f64", 8}}};

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

std::int64_t SizeBytes(DType dtype) { return RowOf(dtype).size_bytes; }

}  // namespace tessera::ptc
