// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Reads the zip archives that torch.save writes. Their entries are not compressed. They are found
/// by the central directory, with zip64 records (APPNOTE.TXT 6.3.10, sections 4.3.7 to 4.3.16).

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/checkpoint/torch/byte_source.h"
#include "ptc/base/result.h"

namespace tessera::checkpoint {

struct ZipEntry {
  std::string name;
  std::int64_t header = 0;  // offset of its local header in the window
  std::int64_t size = 0;    // bytes of its payload
  std::uint32_t crc = 0;    // CRC-32 of the payload that the directory states; not verified here
};

/// An archive in a window. Immutable.
/// \threadsafety Any thread.
class ZipArchive {
 public:
  /// Reads the central directory. Uses memory in proportion to its bytes on disk.
  /// \error "FILE: byte N: …" for: no end record, a directory outside the window, an entry that is
  ///     compressed or encrypted, lies outside, or overlaps another, a name that appears twice
  static Result<ZipArchive> Open(ByteWindow window);

  const ByteWindow& window() const { return window_; }
  /// In byte order of their names.
  const std::vector<ZipEntry>& entries() const { return entries_; }
  const ZipEntry* Find(std::string_view name) const;
  /// Returns the offset of the payload in the window. It follows the local header, which has a
  /// length of its own.
  /// \error "FILE: byte N: …" for a local header of another entry, and for a payload that reaches
  ///     into the directory
  Result<std::int64_t> PayloadOffset(const ZipEntry& entry) const;
  /// Reads the payload.
  /// \error as PayloadOffset, and if it has more than `limit` bytes
  Result<std::string> ReadEntry(const ZipEntry& entry, std::int64_t limit) const;

 private:
  explicit ZipArchive(ByteWindow window) : window_(std::move(window)) {}
  ByteWindow window_;
  std::vector<ZipEntry> entries_;
  std::int64_t directory_ = 0;  // offset of the central directory in the window
};

}  // namespace tessera::checkpoint
