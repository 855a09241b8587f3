// SPDX-License-Identifier: Apache-2.0
#include "engine/checkpoint/safetensors/dtype_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "engine/checkpoint/json_scanner.h"

namespace tessera::checkpoint {
namespace {

using ptc::DType;

struct Name {
  DType dtype;
  std::string_view text;
};
/// In the order of the library of the format.
constexpr std::array<Name, ptc::kNumDTypes> kNames = {{
    {DType::kBool, "BOOL"},
    {DType::kF4, "F4"},
    {DType::kF6E2M3, "F6_E2M3"},
    {DType::kF6E3M2, "F6_E3M2"},
    {DType::kU8, "U8"},
    {DType::kI8, "I8"},
    {DType::kF8E5M2, "F8_E5M2"},
    {DType::kF8E4M3, "F8_E4M3"},
    {DType::kF8E8M0, "F8_E8M0"},
    {DType::kF8E4M3Fnuz, "F8_E4M3FNUZ"},
    {DType::kF8E5M2Fnuz, "F8_E5M2FNUZ"},
    {DType::kI16, "I16"},
    {DType::kU16, "U16"},
    {DType::kF16, "F16"},
    {DType::kBF16, "BF16"},
    {DType::kI32, "I32"},
    {DType::kU32, "U32"},
    {DType::kF32, "F32"},
    {DType::kC64, "C64"},
    {DType::kF64, "F64"},
    {DType::kI64, "I64"},
    {DType::kU64, "U64"},
}};

}  // namespace

std::string_view SafetensorsName(DType dtype) {
  return std::ranges::find(kNames, dtype, &Name::dtype)->text;
}

Result<DType> ParseSafetensorsName(std::string_view name) {
  if (const auto at = std::ranges::find(kNames, name, &Name::text); at != kNames.end()) {
    return at->dtype;
  }
  return InvalidArgument(fmt::format("dtype '{}' is unknown", Printable(name)));
}

int SafetensorsOrder(DType dtype) {
  return static_cast<int>(std::ranges::find(kNames, dtype, &Name::dtype) - kNames.begin());
}

}  // namespace tessera::checkpoint
