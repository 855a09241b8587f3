// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Functions that record formats share: limits, numbers from bytes, checks of a whole data set.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "engine/data/index_file.h"

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
Status CheckRecords(const RecordIndex& index, std::span<const ByteSourcePtr> files,
                    std::int64_t sequence);

/// Returns a fingerprint of records. It does not depend on names and times of the files.
std::uint64_t RecordsFingerprint(DataFormat format, std::int64_t sequence,
                                 const RecordIndex& index);

}  // namespace tessera::engine
