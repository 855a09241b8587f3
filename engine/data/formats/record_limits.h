// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What record formats share: limits, numbers from bytes, checks of a whole data set.

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "engine/data/index_file.h"
#include "ptc/digest.h"

namespace tessera::engine {

/// A record is read into memory whole; a larger one is refused.
inline constexpr std::int64_t kMaxRecordBytes = std::int64_t{1} << 30;

/// Reads a number as the machine stores it; all formats here are little-endian, as is the machine.
/// \pre bytes.size() >= offset + sizeof(Number)
template <typename Number>
Number Load(std::span<const std::byte> bytes, std::size_t offset = 0) {
  Number number;
  std::memcpy(&number, bytes.data() + offset, sizeof number);
  return number;
}

/// \error kInvalidArgument for a sequence below 1 or a data set without records
inline Status CheckRecords(const RecordIndex& index, std::span<const ByteSourcePtr> files,
                           std::int64_t sequence) {
  if (sequence < 1) {
    return InvalidArgument(fmt::format("sequence length {} is below 1", sequence));
  }
  if (index.num_entries() > 0) return OkStatus();
  return InvalidArgument(fmt::format("data set '{}' ({} files) holds no records",
                                     files.empty() ? "" : files.front()->name(), files.size()));
}

/// Returns a fingerprint of records. It does not depend on names and times of the files.
inline std::uint64_t RecordsFingerprint(DataFormat format, std::int64_t sequence,
                                        const RecordIndex& index) {
  return ptc::Mix(ptc::Mix(index.checksum() + static_cast<std::uint64_t>(format)) +
                  static_cast<std::uint64_t>(sequence));
}

}  // namespace tessera::engine
