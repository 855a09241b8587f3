// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The checksums that a checkpoint states about its bytes: CRC-32 of the entries of torch.save
/// archives (APPNOTE.TXT 6.3.10, section 4.4.7), and SHA-256 (FIPS 180-4) of whole files in
/// Megatron's integrity.json.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "engine/checkpoint/checkpoint.h"
#include "ptc/base/result.h"

namespace tessera::checkpoint {

/// Of integrity.json and of the JSON files of Megatron.
inline constexpr std::int64_t kMaxFolderJson = std::int64_t{1} << 24;

enum class SumKind : std::uint8_t { kCrc32, kSha256 };

/// The stated checksum of the bytes [offset, offset + size) of a file.
struct StatedSum {
  SumKind kind = SumKind::kCrc32;
  std::string file;  // absolute path
  std::int64_t offset = 0;
  std::int64_t size = 0;
  std::string expected;  // hex digits, 8 or 64
  std::string of = {};   // the entry of an archive
};

/// Lists the stated checksums. Opens integrity.json, common.pt and the archives with tensors, but
/// reads no tensor. An entry whose CRC-32 is 0 states nothing, because torch writes 0 under
/// set_crc32_options(False).
/// \error as ZipArchive::Open; kNotFound and kInvalidArgument "'FILE' at byte N: …" for an
///     integrity.json with another algorithm, a file outside the folder, or a malformed checksum
Result<std::vector<StatedSum>> StatedSums(const Checkpoint& checkpoint);

/// Reads the bytes through `buffer` and verifies their checksum. Calls `done` after each part,
/// which returns false to stop.
/// \pre `buffer` is not empty
/// \error kDataLoss: "'FILE' at byte N: entry 'E' has CRC-32 X, its archive states Y", "'FILE' has
///     SHA-256 X, integrity.json states Y"; kCancelled; kUnavailable as File::ReadAt
Status CheckSum(const StatedSum& sum, std::span<std::byte> buffer,
                const std::function<bool(std::int64_t bytes)>& done);

}  // namespace tessera::checkpoint
