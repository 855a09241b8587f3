// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstring>

#include "engine/reshard/compare.h"
#include "ptc/convert.h"

namespace tessera::reshard {
namespace {

template <typename T>
T As(const std::byte* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

}  // namespace

std::string FormatElement(ptc::DType dtype, const std::byte* bytes) {
  switch (dtype) {
    case ptc::DType::kBool:
      return As<std::uint8_t>(bytes) == 0 ? "false" : "true";
    case ptc::DType::kU8:
      return fmt::format("{}", As<std::uint8_t>(bytes));
    case ptc::DType::kI8:
      return fmt::format("{}", As<std::int8_t>(bytes));
    case ptc::DType::kU16:
      return fmt::format("{}", As<std::uint16_t>(bytes));
    case ptc::DType::kI16:
      return fmt::format("{}", As<std::int16_t>(bytes));
    case ptc::DType::kU32:
      return fmt::format("{}", As<std::uint32_t>(bytes));
    case ptc::DType::kI32:
      return fmt::format("{}", As<std::int32_t>(bytes));
    case ptc::DType::kU64:
      return fmt::format("{}", As<std::uint64_t>(bytes));
    case ptc::DType::kI64:
      return fmt::format("{}", As<std::int64_t>(bytes));
    case ptc::DType::kF64:
      return fmt::format("{}", As<double>(bytes));
    case ptc::DType::kF32:
      return fmt::format("{}", As<float>(bytes));
    case ptc::DType::kC64:
      return fmt::format("{}{:+}i", As<float>(bytes), As<float>(bytes + sizeof(float)));
    case ptc::DType::kF8E8M0:
    case ptc::DType::kF8E4M3Fnuz:
    case ptc::DType::kF8E5M2Fnuz:
    case ptc::DType::kF4:
    case ptc::DType::kF6E2M3:
    case ptc::DType::kF6E3M2:
      return fmt::format("0x{:02x}", As<std::uint8_t>(bytes));
    case ptc::DType::kF16:
    case ptc::DType::kBF16:
    case ptc::DType::kF8E4M3:
    case ptc::DType::kF8E5M2: {
      float value = 0;  // f32 represents every value of these types exactly
      ptc::Convert(dtype, bytes, ptc::DType::kF32, reinterpret_cast<std::byte*>(&value), 1);
      return fmt::format("{}", value);
    }
  }
  return "?";
}

}  // namespace tessera::reshard
