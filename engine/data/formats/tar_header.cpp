// SPDX-License-Identifier: Apache-2.0
#include "engine/data/formats/tar_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <string_view>

#include "engine/data/data_error.h"

namespace tessera::engine {
namespace {

using Bytes = std::span<const std::byte>;

/// Longer names and attributes are damage.
constexpr std::int64_t kMaxExtension = 1 << 20;
/// Of a name in a header.
constexpr std::size_t kNameBytes = 100;

std::string_view Text(Bytes bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return text.substr(0, text.find('\0'));
}

/// Reads octal digits between spaces or, if the first bit is set, a number of base 256 (GNU).
std::optional<std::int64_t> Number(Bytes field) {
  const auto first = std::to_integer<unsigned>(field.front());
  if (first >= 0x80) {
    if (first != 0x80) return std::nullopt;  // negative or above 2^63
    std::uint64_t value = 0;
    for (const std::byte byte : field.subspan(1)) {
      if (value >> 55 != 0) return std::nullopt;
      value = value << 8 | std::to_integer<std::uint64_t>(byte);
    }
    return static_cast<std::int64_t>(value);
  }
  std::string_view text = Text(field);
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  text = text.substr(0, text.find(' '));
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value, 8);
  if (text.empty()) return 0;
  return error == std::errc() && at == end && value >= 0 ? std::optional(value) : std::nullopt;
}

bool IsChecksumRight(Bytes header) {
  const auto wanted = Number(header.subspan(148, 8));
  std::int64_t as_unsigned = 0, as_signed = 0;  // old programs added signed characters
  for (std::size_t i = 0; i < header.size(); ++i) {
    const auto byte = 148 <= i && i < 156 ? std::byte{' '} : header[i];
    as_unsigned += std::to_integer<std::uint8_t>(byte);
    as_signed += std::to_integer<std::int8_t>(byte);
  }
  return wanted && (*wanted == as_unsigned || *wanted == as_signed);
}

/// What extended headers define for the member after them.
struct Extension {
  std::optional<std::string> name = {};
  std::int64_t name_end = 0;  // of `name`, in the file
  std::optional<std::int64_t> size_bytes = {};
  bool is_sparse = false;
};

/// Reads records "LENGTH KEY=VALUE\n", where LENGTH is that of the whole record.
/// \param offset of the text in the file
/// \return false if damaged
bool ParsePax(std::string_view text, std::int64_t offset, Extension& out) {
  const char* const begin = text.data();
  while (!text.empty()) {
    std::size_t length = 0;
    const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), length);
    const auto digits = static_cast<std::size_t>(at - text.data());
    if (error != std::errc() || length > text.size() || length < digits + 3) return false;
    if (text[digits] != ' ' || text[length - 1] != '\n') return false;
    const std::string_view record = text.substr(digits + 1, length - digits - 2);
    const std::size_t equals = record.find('=');
    if (equals == std::string_view::npos) return false;
    const std::string_view key = record.substr(0, equals), value = record.substr(equals + 1);
    if (key == "path") {
      out.name = std::string(value);
      out.name_end = offset + (value.data() + value.size() - begin);
    }
    if (key.starts_with("GNU.sparse")) out.is_sparse = true;
    if (key == "size") {
      std::int64_t size = 0;
      const auto parsed = std::from_chars(value.data(), value.data() + value.size(), size);
      if (parsed.ec != std::errc() || parsed.ptr != value.data() + value.size() || size < 0) {
        return false;
      }
      out.size_bytes = size;
    }
    text.remove_prefix(length);
  }
  return true;
}

std::string NameOf(Bytes header) {
  std::string name(Text(header.first(kNameBytes)));
  const std::string_view prefix = Text(header.subspan(345, 155));
  const bool is_posix = Text(header.subspan(257, 6)) == "ustar";  // GNU has other fields there
  return is_posix && !prefix.empty() ? fmt::format("{}/{}", prefix, name) : name;
}

bool IsZero(Bytes block) {
  return std::ranges::all_of(block, [](std::byte byte) { return byte == std::byte{0}; });
}

/// Returns where data of `size` bytes ends with its padding. The last member may lack it.
Result<std::int64_t> EndOf(const ByteSource& file, std::int64_t header, std::int64_t data,
                           std::int64_t size) {
  if (size > file.size_bytes() - data) {
    return BadData(file, header,
                   fmt::format("a member of {} bytes is cut off: the file has {} bytes", size,
                               file.size_bytes()));
  }
  return std::min(file.size_bytes(), data + (size + kTarBlock - 1) / kTarBlock * kTarBlock);
}

}  // namespace

Result<std::optional<TarMember>> ReadTarMember(const ByteSource& file, ScanReader& reader,
                                               std::int64_t offset) {
  TarMember member;
  member.begin = offset;
  Extension extension;
  for (;;) {
    if (offset == file.size_bytes() && offset == member.begin) return std::nullopt;
    if (file.size_bytes() - offset < kTarBlock) return BadData(file, offset, "a header is cut off");
    TESSERA_TRY(const Bytes header, reader.At(offset, kTarBlock));
    if (offset == member.begin && IsZero(header)) return std::nullopt;
    const auto size = Number(header.subspan(124, 12));
    if (!IsChecksumRight(header)) return BadData(file, offset, "the checksum of a header is wrong");
    if (!size) return BadData(file, offset, "the size in a header is not a number");
    const char type = std::to_integer<char>(header[156]);
    const std::int64_t data = offset + kTarBlock;
    const bool is_extension = type == 'L' || type == 'K' || type == 'x' || type == 'g';
    if (!is_extension) {
      if (type == 'S' || extension.is_sparse) {
        return BadData(file, offset, "sparse files in a tar archive are not read");
      }
      member.name = extension.name.value_or(NameOf(header));
      member.name_end =
          extension.name ? extension.name_end : offset + std::ssize(Text(header.first(kNameBytes)));
      // Links and devices have no data, whatever size their header states.
      const bool has_data = type < '1' || type > '6';
      member.size_bytes = has_data ? extension.size_bytes.value_or(*size) : 0;
      member.is_file = (type == '0' || type == '\0' || type == '7') && !member.name.ends_with('/');
      member.data_begin = data;
      TESSERA_TRY(member.end, EndOf(file, offset, data, member.size_bytes));
      return member;
    }
    if (*size > kMaxExtension) {
      return BadData(
          file, offset,
          fmt::format("an extended header has {} bytes, the limit is {}", *size, kMaxExtension));
    }
    TESSERA_TRY(const std::int64_t end, EndOf(file, offset, data, *size));
    TESSERA_TRY(const Bytes value, reader.At(data, *size));  // `header` is invalid from here on
    if (type == 'L') {
      extension.name = std::string(Text(value));
      extension.name_end = data + std::ssize(*extension.name);
    }
    const std::string_view text(reinterpret_cast<const char*>(value.data()), value.size());
    if (type == 'x' && !ParsePax(text, data, extension)) {
      return BadData(file, offset, "an extended header is damaged");
    }
    offset = end;
  }
}

}  // namespace tessera::engine
