// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// CRC-32C (Castagnoli; RFC 3720, appendix B.4), with the processor's instruction where it has one.

#include <cstddef>
#include <cstdint>
#include <span>

namespace tessera::engine {

std::uint32_t Crc32c(std::span<const std::byte> bytes);

/// The loop without the instruction, for tests.
std::uint32_t Crc32cPortable(std::span<const std::byte> bytes);

/// As TFRecord stores it: rotated and offset, so that the CRC of bytes that hold CRCs stays good.
constexpr std::uint32_t MaskCrc(std::uint32_t crc) { return (crc >> 15 | crc << 17) + 0xa282ead8; }

}  // namespace tessera::engine
