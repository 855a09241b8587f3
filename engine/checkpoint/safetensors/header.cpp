// SPDX-License-Identifier: Apache-2.0
#include "engine/checkpoint/safetensors/header.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <unordered_set>

#include "engine/checkpoint/json_scanner.h"
#include "engine/checkpoint/safetensors/dtype_names.h"
#include "ptc/packed.h"

namespace tessera::checkpoint {
namespace {

constexpr std::int64_t kLengthBytes = 8;

Error Wrong(const std::string& file, std::int64_t at, std::string_view what) {
  return InvalidArgument(fmt::format("'{}' at byte {}: {}", file, at, what));
}

/// Reads N and compares it with the limits of format and file.
Result<std::int64_t> HeaderLength(std::string_view head, std::int64_t file_size,
                                  const std::string& file) {
  if (file_size < kLengthBytes || head.size() < static_cast<std::size_t>(kLengthBytes)) {
    return Wrong(file, 0,
                 fmt::format("the file has {} bytes, a safetensors file at least 8", file_size));
  }
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    length |= std::uint64_t{static_cast<unsigned char>(head[i])} << (8 * i);
  }
  if (length > static_cast<std::uint64_t>(kMaxHeaderBytes)) {
    return Wrong(
        file, 0,
        fmt::format("the header has {} bytes, the limit is {}; write the tensors to several files",
                    length, kMaxHeaderBytes));
  }
  const auto bytes = static_cast<std::int64_t>(length);
  if (bytes > file_size - kLengthBytes) {
    return Wrong(file, 0,
                 fmt::format("the header has {} bytes, the file {} after its length", bytes,
                             file_size - kLengthBytes));
  }
  return bytes;
}

/// A tensor and the position of its entry in the text.
struct Entry {
  FileTensor tensor;
  std::size_t at = 0;
};

/// Parses the JSON object of a header.
class Parser {
 public:
  Parser(std::string_view json, const std::string& file) : scan_(json, file, kLengthBytes) {}

  Status Run() {
    std::unordered_set<std::string> seen;
    TESSERA_RETURN_IF_ERROR(scan_.Object([&](std::string key, std::size_t at) -> Status {
      if (!seen.insert(key).second) {
        return scan_.Wrong(at, fmt::format("key '{}' appears twice", Printable(key)));
      }
      if (key == "__metadata__") return Metadata();
      if (key.empty()) return scan_.Wrong(at, "a tensor without a name");
      if (std::ranges::any_of(key, [](unsigned char c) { return c < 0x20 || c == 0x7f; })) {
        return scan_.Wrong(at, "a tensor's name has control characters");
      }
      return Tensor(std::move(key), at);
    }));
    return scan_.End();
  }

  std::map<std::string, std::string> metadata;
  std::vector<Entry> entries;

 private:
  Status Metadata() {
    return scan_.Object([&](std::string key, std::size_t at) -> Status {
      TESSERA_TRY(std::string value, scan_.String());
      if (metadata.contains(key)) {
        return scan_.Wrong(at,
                           fmt::format("key '{}' of __metadata__ appears twice", Printable(key)));
      }
      metadata.emplace(std::move(key), std::move(value));
      return OkStatus();
    });
  }

  Status Tensor(std::string name, std::size_t at) {
    std::optional<ptc::DType> dtype;
    std::optional<ptc::Shape> shape;
    std::optional<std::pair<std::int64_t, std::int64_t>> offsets;
    std::size_t offsets_at = 0;
    TESSERA_RETURN_IF_ERROR(scan_.Object([&](const std::string& key, std::size_t key_at) -> Status {
      const bool again = (key == "dtype" && dtype) || (key == "shape" && shape) ||
                         (key == "data_offsets" && offsets);
      if (again) {
        return scan_.Wrong(key_at, fmt::format("'{}' of '{}' appears twice", key, Printable(name)));
      }
      const std::size_t value_at = scan_.Position();
      if (key == "dtype") {
        TESSERA_TRY(const std::string text, scan_.String());
        auto parsed = ParseSafetensorsName(text);
        if (!parsed) return Blame(parsed.error(), name, value_at);
        dtype = *parsed;
      } else if (key == "shape") {
        TESSERA_TRY(shape, Shape(name));
      } else if (key == "data_offsets") {
        offsets_at = value_at;
        TESSERA_TRY(offsets, Offsets(name));
      } else {
        return scan_.Skip();
      }
      return OkStatus();
    }));
    if (!dtype || !shape || !offsets) {
      return scan_.Wrong(at, fmt::format("tensor '{}' has no {}", Printable(name),
                                         !dtype   ? "dtype"
                                         : !shape ? "shape"
                                                  : "data_offsets"));
    }
    const auto bytes = ptc::ByteCount(*dtype, *shape);
    if (!bytes) return Blame(bytes.error(), name, at);
    const auto [begin, end] = *offsets;
    if (begin > end || end - begin != *bytes) {
      return scan_.Wrong(offsets_at,
                         fmt::format("tensor '{}' has data_offsets [{},{}], its shape {} of {} "
                                     "takes {} bytes",
                                     Printable(name), begin, end, ptc::ToString(*shape),
                                     SafetensorsName(*dtype), *bytes));
    }
    entries.push_back({{std::move(name), *dtype, std::move(*shape), begin, end}, offsets_at});
    return OkStatus();
  }

  Result<ptc::Shape> Shape(const std::string& name) {
    ptc::Shape shape;
    TESSERA_RETURN_IF_ERROR(scan_.Array([&]() -> Status {
      const std::size_t at = scan_.Position();
      TESSERA_TRY(const std::int64_t size, scan_.Count());
      if (shape.size() == static_cast<std::size_t>(ptc::kMaxRank)) {
        return scan_.Wrong(
            at, fmt::format("tensor '{}' has more than {} dims", Printable(name), ptc::kMaxRank));
      }
      shape.push_back(size);
      return OkStatus();
    }));
    return shape;
  }

  Result<std::pair<std::int64_t, std::int64_t>> Offsets(const std::string& name) {
    std::vector<std::int64_t> pair;
    const std::size_t begin = scan_.Position();
    TESSERA_RETURN_IF_ERROR(scan_.Array([&]() -> Status {
      TESSERA_TRY(const std::int64_t offset, scan_.Count());
      if (pair.size() < 3) pair.push_back(offset);
      return OkStatus();
    }));
    if (pair.size() != 2) {
      return scan_.Wrong(begin,
                         fmt::format("data_offsets of '{}' are not two counts", Printable(name)));
    }
    return std::pair(pair[0], pair[1]);
  }

  Error Blame(const Error& error, const std::string& name, std::size_t at) const {
    Error blamed = scan_.Wrong(at, fmt::format("tensor '{}': {}", Printable(name), error.message));
    blamed.code = error.code;
    return blamed;
  }

  JsonScanner scan_;
};

/// Checks that every byte after the header belongs to exactly one tensor.
Status CheckOffsets(const std::vector<Entry>& entries, std::int64_t data_bytes,
                    const std::string& file) {
  std::int64_t reached = 0;
  for (const Entry& entry : entries) {
    const FileTensor& tensor = entry.tensor;
    const std::int64_t at = kLengthBytes + static_cast<std::int64_t>(entry.at);
    if (tensor.begin != reached) {
      return Wrong(file, at,
                   fmt::format("tensor '{}' begins at {} of the data, {} {}",
                               Printable(tensor.name), tensor.begin,
                               tensor.begin < reached ? "inside the one that ends at"
                                                      : "after a hole that begins at",
                               reached));
    }
    if (tensor.end > data_bytes) {
      return Wrong(file, at,
                   fmt::format("tensor '{}' ends at {} of the data, the file has {} bytes of it",
                               Printable(tensor.name), tensor.end, data_bytes));
    }
    reached = tensor.end;
  }
  if (reached != data_bytes) {
    return Wrong(file, kLengthBytes,
                 fmt::format("the tensors have {} bytes, the file has {}", reached, data_bytes));
  }
  return OkStatus();
}

}  // namespace

Result<Header> ParseHeader(std::string_view head, std::int64_t file_size, const std::string& file) {
  TESSERA_TRY(const std::int64_t length, HeaderLength(head, file_size, file));
  const std::string_view json = head.substr(kLengthBytes, static_cast<std::size_t>(length));
  if (json.size() < static_cast<std::size_t>(length)) {
    return Wrong(file, static_cast<std::int64_t>(head.size()), "the header is cut off");
  }
  if (json.empty() || json[0] != '{') {
    return Wrong(file, kLengthBytes, "the header does not begin with '{'");
  }
  Parser parser(json, file);
  TESSERA_RETURN_IF_ERROR(parser.Run());
  // If two tensors begin at the same offset, the empty one comes first.
  std::ranges::stable_sort(parser.entries, {}, [](const Entry& entry) {
    return std::pair(entry.tensor.begin, entry.tensor.end);
  });
  const std::int64_t data_begin = kLengthBytes + length;
  TESSERA_RETURN_IF_ERROR(CheckOffsets(parser.entries, file_size - data_begin, file));
  Header header{.tensors = {}, .metadata = std::move(parser.metadata), .data_begin = data_begin};
  header.tensors.reserve(parser.entries.size());
  for (Entry& entry : parser.entries) header.tensors.push_back(std::move(entry.tensor));
  return header;
}

Result<Header> ReadHeader(const File& file) {
  TESSERA_TRY(const std::int64_t size, file.Size());
  std::string head(static_cast<std::size_t>(std::min(size, kLengthBytes)), '\0');
  TESSERA_RETURN_IF_ERROR(file.ReadAt(0, std::as_writable_bytes(std::span(head))));
  TESSERA_TRY(const std::int64_t length, HeaderLength(head, size, file.path()));
  head.resize(static_cast<std::size_t>(kLengthBytes + length));
  TESSERA_RETURN_IF_ERROR(file.ReadAt(0, std::as_writable_bytes(std::span(head))));
  return ParseHeader(head, size, file.path());
}

}  // namespace tessera::checkpoint
