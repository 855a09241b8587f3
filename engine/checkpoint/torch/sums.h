// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Sums over bytes that a checkpoint states beside its tensors: CRC-32 of the entries of archives
/// that torch.save wrote (APPNOTE.TXT 6.3.10, section 4.4.7), SHA-256 of whole files (FIPS 180-4)
/// in Megatron's integrity.json.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "engine/checkpoint/checkpoint.h"
#include "ptc/base/result.h"

namespace tessera::checkpoint {

enum class SumKind : std::uint8_t { kCrc32, kSha256 };

/// What the bytes [offset, offset + size) of a file should sum up to.
struct StatedSum {
  SumKind kind = SumKind::kCrc32;
  std::string file;  // absolute path
  std::int64_t offset = 0;
  std::int64_t size = 0;
  std::string expected;  // hex digits, 8 or 64
  std::string of = {};   // the entry of an archive
};

/// Opens the archives with tensors, common.pt and integrity.json; reads no tensor. An entry whose
/// CRC-32 is 0 states nothing: torch writes 0 under set_crc32_options(False).
/// \error as ZipArchive::Open; kNotFound, kInvalidArgument naming what is wrong with
/// integrity.json:
///     another algorithm, a file outside the folder, a sum that is none
Result<std::vector<StatedSum>> StatedSums(const Checkpoint& checkpoint);

/// Reads the bytes through `buffer` and tells `done` of each part; that may answer false to stop.
/// \pre buffer is not empty
/// \error kDataLoss: "'FILE' at byte N: entry 'E' has CRC-32 X, its archive states Y", "'FILE' has
///     SHA-256 X, integrity.json states Y"; kCancelled; kUnavailable as File::ReadAt
Status CheckSum(const StatedSum& sum, std::span<std::byte> buffer,
                const std::function<bool(std::int64_t bytes)>& done);

}  // namespace tessera::checkpoint
