// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Members of a tar archive: ustar, long names as GNU tar writes them, pax extended headers
/// (POSIX.1-2017, pax, "ustar Interchange Format" and "pax Extended Header").

#include <cstdint>
#include <optional>
#include <string>

#include "engine/data/scan_reader.h"

namespace tessera::engine {

inline constexpr std::int64_t kTarBlock = 512;
/// The zeros that close an archive.
inline constexpr std::int64_t kTarEnd = 2 * kTarBlock;

struct TarMember {
  std::string name;
  std::int64_t name_end = 0;  // after the last byte of the name, in the header that has it
  std::int64_t begin = 0;     // of its first header, extended ones included
  std::int64_t data_begin = 0;
  std::int64_t size_bytes = 0;  // of the data, without the padding
  std::int64_t end = 0;         // where the next member begins
  bool is_file = false;
};

/// Returns the member that begins at `offset`; nullopt at the end: two blocks of zeros, or the end
/// of the file between two members.
/// \error kDataLoss naming file and byte for a wrong checksum or number, a header that is too long,
///     data that is cut off, a sparse file
Result<std::optional<TarMember>> ReadTarMember(const ByteSource& file, ScanReader& reader,
                                               std::int64_t offset);

}  // namespace tessera::engine
