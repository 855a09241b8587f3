// SPDX-License-Identifier: Apache-2.0
#include "engine/checkpoint/torch/zip.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace tessera::checkpoint {
namespace {

constexpr std::uint32_t kLocalSignature = 0x04034b50;
constexpr std::uint32_t kDirectorySignature = 0x02014b50;
constexpr std::uint32_t kEndSignature = 0x06054b50;
constexpr std::uint32_t kEnd64Signature = 0x06064b50;
constexpr std::uint32_t kLocatorSignature = 0x07064b50;
constexpr std::int64_t kLocalBytes = 30;
constexpr std::int64_t kDirectoryBytes = 46;
constexpr std::int64_t kEndBytes = 22;
constexpr std::int64_t kEnd64Bytes = 56;
constexpr std::int64_t kLocatorBytes = 20;
constexpr std::int64_t kMaxComment = 0xffff;
constexpr std::int64_t kMaxDirectory = std::int64_t{1} << 28;
constexpr std::uint16_t kZip64Extra = 1;
constexpr std::uint64_t kIn64 = 0xffffffff;  // the value is in the zip64 record
constexpr std::uint64_t kIn64Short = 0xffff;

/// Little-endian.
/// \pre at + sizeof(T) <= bytes.size()
template <typename T>
T Load(std::string_view bytes, std::size_t at) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    value = static_cast<T>(
        value |
        static_cast<T>(static_cast<T>(static_cast<unsigned char>(bytes[at + i])) << (8 * i)));
  }
  return value;
}

struct Directory {
  std::uint64_t num_entries = 0;
  std::uint64_t size = 0;
  std::uint64_t offset = 0;
  std::int64_t end = 0;  // the begin of the end records, which follow the directory
};

/// Reads the zip64 end record, if there is a locator for one.
Status ReadEnd64(const ByteWindow& window, std::int64_t end, Directory& directory) {
  if (end < kLocatorBytes) return OkStatus();
  const std::int64_t at = end - kLocatorBytes;
  TESSERA_TRY(const std::string locator, window.Read(at, kLocatorBytes, "the zip64 locator"));
  if (Load<std::uint32_t>(locator, 0) != kLocatorSignature) return OkStatus();
  const auto offset = Load<std::uint64_t>(locator, 8);
  if (at < kEnd64Bytes || offset > static_cast<std::uint64_t>(at - kEnd64Bytes)) {
    return window.At(at,
                     fmt::format("the zip64 end record at {} lies outside the archive", offset));
  }
  const auto record_at = static_cast<std::int64_t>(offset);
  TESSERA_TRY(const std::string record,
              window.Read(record_at, kEnd64Bytes, "the zip64 end record"));
  if (Load<std::uint32_t>(record, 0) != kEnd64Signature) {
    return window.At(record_at, "there is no zip64 end record at the offset of its locator");
  }
  directory = {Load<std::uint64_t>(record, 32), Load<std::uint64_t>(record, 40),
               Load<std::uint64_t>(record, 48), record_at};
  return OkStatus();
}

Result<Directory> FindDirectory(const ByteWindow& window) {
  const auto not_zip = [&](std::string_view why) {
    return window.At(0, fmt::format("not a zip archive as torch.save writes it: {}", why));
  };
  if (window.size() < kEndBytes) {
    return not_zip(
        fmt::format("{} bytes are less than an end record's {}", window.size(), kEndBytes));
  }
  // The end record comes last, and may be followed by a comment of up to 65535 bytes.
  for (const std::int64_t comment : {std::int64_t{0}, kMaxComment}) {
    const std::int64_t size = std::min(window.size(), kEndBytes + comment);
    const std::int64_t base = window.size() - size;
    TESSERA_TRY(const std::string tail, window.Read(base, size, "the end record"));
    for (std::int64_t at = size - kEndBytes; at >= 0; --at) {
      const auto i = static_cast<std::size_t>(at);
      if (Load<std::uint32_t>(tail, i) != kEndSignature) continue;
      if (at + kEndBytes + Load<std::uint16_t>(tail, i + 20) != size) continue;
      if (Load<std::uint32_t>(tail, i + 4) != 0) {
        return window.At(base + at, "the archive is one of several disks");
      }
      Directory directory{Load<std::uint16_t>(tail, i + 10), Load<std::uint32_t>(tail, i + 12),
                          Load<std::uint32_t>(tail, i + 16), base + at};
      if (directory.num_entries == kIn64Short || directory.size == kIn64 ||
          directory.offset == kIn64) {
        TESSERA_RETURN_IF_ERROR(ReadEnd64(window, base + at, directory));
      }
      return directory;
    }
  }
  return not_zip("no end record (the file may be cut short, or of a torch before 1.6)");
}

/// Reads the 64-bit sizes and the offset of an entry from its extra field. It has only those whose
/// 32-bit field is kIn64.
bool TakeZip64(std::string_view extra, std::uint64_t& size, std::uint64_t& stored,
               std::uint64_t& header) {
  while (extra.size() >= 4) {
    const auto id = Load<std::uint16_t>(extra, 0);
    const std::size_t length = Load<std::uint16_t>(extra, 2);
    if (length > extra.size() - 4) return false;
    if (id == kZip64Extra) {
      std::string_view body = extra.substr(4, length);
      for (std::uint64_t* const field : {&size, &stored, &header}) {
        if (*field != kIn64) continue;
        if (body.size() < 8) return false;
        *field = Load<std::uint64_t>(body, 0);
        body.remove_prefix(8);
      }
      return true;
    }
    extra.remove_prefix(4 + length);
  }
  return false;
}

/// Reads the entry at offset `at` of the directory and moves `at` to its end.
/// \param base offset of the directory in the window
Result<ZipEntry> ReadDirectoryEntry(const ByteWindow& window, std::string_view bytes,
                                    std::int64_t base, std::size_t& at) {
  const std::int64_t here = base + static_cast<std::int64_t>(at);
  if (bytes.size() - at < static_cast<std::size_t>(kDirectoryBytes) ||
      Load<std::uint32_t>(bytes, at) != kDirectorySignature) {
    return window.At(here, "an entry of the zip directory was expected");
  }
  const auto flags = Load<std::uint16_t>(bytes, at + 8);
  const auto method = Load<std::uint16_t>(bytes, at + 10);
  const auto crc = Load<std::uint32_t>(bytes, at + 16);
  std::uint64_t stored = Load<std::uint32_t>(bytes, at + 20);
  std::uint64_t size = Load<std::uint32_t>(bytes, at + 24);
  std::uint64_t header = Load<std::uint32_t>(bytes, at + 42);
  const std::size_t name_size = Load<std::uint16_t>(bytes, at + 28);
  const std::size_t extra_size = Load<std::uint16_t>(bytes, at + 30);
  const std::size_t comment_size = Load<std::uint16_t>(bytes, at + 32);
  at += static_cast<std::size_t>(kDirectoryBytes);
  if (name_size + extra_size + comment_size > bytes.size() - at) {
    return window.At(here, "the entry reaches past the end of the zip directory");
  }
  ZipEntry entry{std::string(bytes.substr(at, name_size))};
  const std::string_view extra = bytes.substr(at + name_size, extra_size);
  at += name_size + extra_size + comment_size;
  if ((size == kIn64 || stored == kIn64 || header == kIn64) &&
      !TakeZip64(extra, size, stored, header)) {
    return window.At(here, "the entry's zip64 field is missing or too short");
  }
  if (method != 0 || (flags & 1) != 0 || size != stored) {
    return window.At(here, fmt::format("the entry is {}; torch.save stores entries as they are",
                                       (flags & 1) != 0 ? "encrypted" : "compressed"));
  }
  const auto limit = static_cast<std::uint64_t>(base);
  if (header > limit || size > limit - header ||
      limit - header - size < static_cast<std::uint64_t>(kLocalBytes) + name_size) {
    return window.At(here, fmt::format("the entry of {} bytes at {} does not lie before the "
                                       "directory at {}",
                                       size, header, base));
  }
  entry.header = static_cast<std::int64_t>(header);
  entry.size = static_cast<std::int64_t>(size);
  entry.crc = crc;
  return entry;
}

}  // namespace

Result<ZipArchive> ZipArchive::Open(ByteWindow window) {
  TESSERA_TRY(const Directory directory, FindDirectory(window));
  const auto end = static_cast<std::uint64_t>(directory.end);
  if (directory.offset > end || directory.size > end - directory.offset) {
    return window.At(directory.end,
                     fmt::format("the zip directory of {} bytes at {} does not lie before its end "
                                 "record",
                                 directory.size, directory.offset));
  }
  const auto base = static_cast<std::int64_t>(directory.offset);
  if (directory.size > static_cast<std::uint64_t>(kMaxDirectory)) {
    return window.At(base, fmt::format("the zip directory has {} bytes, the limit is {}",
                                       directory.size, kMaxDirectory));
  }
  if (directory.num_entries > directory.size / static_cast<std::uint64_t>(kDirectoryBytes)) {
    return window.At(base, fmt::format("a zip directory of {} bytes cannot hold {} entries",
                                       directory.size, directory.num_entries));
  }
  TESSERA_TRY(const std::string bytes,
              window.Read(base, static_cast<std::int64_t>(directory.size), "the zip directory"));
  ZipArchive archive(std::move(window));
  archive.directory_ = base;
  std::size_t at = 0;
  for (std::uint64_t i = 0; i < directory.num_entries; ++i) {
    TESSERA_TRY(ZipEntry entry, ReadDirectoryEntry(archive.window_, bytes, base, at));
    archive.entries_.push_back(std::move(entry));
  }
  auto& entries = archive.entries_;
  std::ranges::sort(entries, {}, &ZipEntry::header);
  for (std::size_t i = 1; i < entries.size(); ++i) {
    const ZipEntry& before = entries[i - 1];
    const std::int64_t free =
        before.header + kLocalBytes + static_cast<std::int64_t>(before.name.size()) + before.size;
    if (entries[i].header < free) {
      return archive.window_.At(entries[i].header,
                                "two entries of the zip archive share these bytes");
    }
  }
  std::ranges::sort(entries, {}, &ZipEntry::name);
  const auto twice = std::ranges::adjacent_find(entries, {}, &ZipEntry::name);
  if (twice != entries.end()) {
    return archive.window_.At(std::next(twice)->header,
                              "the zip archive has this entry's name twice");
  }
  return archive;
}

const ZipEntry* ZipArchive::Find(std::string_view name) const {
  const auto found = std::ranges::lower_bound(entries_, name, {}, &ZipEntry::name);
  return found != entries_.end() && found->name == name ? &*found : nullptr;
}

Result<std::int64_t> ZipArchive::PayloadOffset(const ZipEntry& entry) const {
  TESSERA_TRY(const std::string header,
              window_.Read(entry.header, kLocalBytes, "a zip entry's header"));
  if (Load<std::uint32_t>(header, 0) != kLocalSignature) {
    return window_.At(entry.header, "the header of a zip entry was expected");
  }
  const std::int64_t name_size = Load<std::uint16_t>(header, 26);
  const std::int64_t extra_size = Load<std::uint16_t>(header, 28);
  TESSERA_TRY(const std::string name,
              window_.Read(entry.header + kLocalBytes, name_size, "a zip entry's name"));
  if (name != entry.name) {
    return window_.At(entry.header, "the zip directory has another name for this entry");
  }
  const std::int64_t offset = entry.header + kLocalBytes + name_size + extra_size;
  if (offset > directory_ || entry.size > directory_ - offset) {
    return window_.At(
        entry.header,
        fmt::format("the {} bytes of the entry reach into the zip directory", entry.size));
  }
  return offset;
}

Result<std::string> ZipArchive::ReadEntry(const ZipEntry& entry, std::int64_t limit) const {
  if (entry.size > limit) {
    return window_.At(entry.header,
                      fmt::format("the entry has {} bytes, the limit is {}", entry.size, limit));
  }
  TESSERA_TRY(const std::int64_t offset, PayloadOffset(entry));
  return window_.Read(offset, entry.size, "a zip entry");
}

}  // namespace tessera::checkpoint
