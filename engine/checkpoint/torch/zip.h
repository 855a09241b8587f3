// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The zip archives that torch.save writes: entries that are stored, not compressed, found by the
/// central directory (APPNOTE.TXT 6.3.10, sections 4.3.7 to 4.3.16), with zip64 records.

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
  std::uint32_t crc = 0;    // CRC-32 of the payload as the directory states it; not checked here
};

/// An archive in a window. Immutable; any thread.
class ZipArchive {
 public:
  /// Reads the central directory; no more memory than it has bytes on disk, times a small factor.
  /// \error "FILE: byte N: …": no end record, a directory outside the window, an entry that is
  ///     compressed or encrypted, lies outside, or overlaps another; a name twice
  static Result<ZipArchive> Open(ByteWindow window);

  const ByteWindow& window() const { return window_; }
  /// In byte order of their names.
  const std::vector<ZipEntry>& entries() const { return entries_; }
  const ZipEntry* Find(std::string_view name) const;
  /// Where the payload starts in the window: behind the local header, whose length only it knows.
  /// \error "FILE: byte N: …": a local header that is not that of the entry, a payload that
  ///     reaches into the directory
  Result<std::int64_t> PayloadOffset(const ZipEntry& entry) const;
  /// The payload. \error as PayloadOffset, and where it has more than `limit` bytes
  Result<std::string> ReadEntry(const ZipEntry& entry, std::int64_t limit) const;

 private:
  explicit ZipArchive(ByteWindow window) : window_(std::move(window)) {}
  ByteWindow window_;
  std::vector<ZipEntry> entries_;
  std::int64_t directory_ = 0;  // offset of the central directory in the window
};

}  // namespace tessera::checkpoint
