// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// CRC-32C (Castagnoli; RFC 3720, appendix B.4), with the processor's instruction where it has one.

#include <cstddef>
#include <cstdint>
#include <span>

namespace tessera::engine {

std::uint32_t Crc32c(std::span<const std::byte> bytes);

/// Computes it without the instruction, for tests.
std::uint32_t Crc32cPortable(std::span<const std::byte> bytes);

/// Masks a CRC as TFRecord stores it: rotated and offset, because a CRC of bytes that contain their
/// CRC is weak.
constexpr std::uint32_t MaskCrc(std::uint32_t crc) { return (crc >> 15 | crc << 17) + 0xa282ead8; }

}  // namespace tessera::engine
