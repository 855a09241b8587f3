// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The header of a safetensors file: N as a little-endian u64, then N bytes of JSON that begin with
/// '{' and may end with spaces, then the bytes of the tensors (FORMAT.md).

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/checkpoint/open_files.h"
#include "ptc/base/result.h"
#include "ptc/box.h"
#include "ptc/dtype.h"

namespace tessera::checkpoint {

inline constexpr std::int64_t kMaxHeaderBytes = 100'000'000;

/// A tensor of one file.
struct FileTensor {
  std::string name;
  ptc::DType dtype = ptc::DType::kF32;
  ptc::Shape shape;
  std::int64_t begin = 0;  // bytes from the end of the header
  std::int64_t end = 0;
  friend bool operator==(const FileTensor&, const FileTensor&) = default;
};

struct Header {
  std::vector<FileTensor> tensors;  // in the order of their bytes
  std::map<std::string, std::string> metadata = {};
  std::int64_t data_begin = 8;  // offset in the file of the first tensor byte
  friend bool operator==(const Header&, const Header&) = default;
};

/// Parses a header.
/// \param head the first bytes of the file: 8 + N of them, or all if the file is shorter
/// \error kInvalidArgument "'FILE' at byte N: …" for a header that is longer than format or
///     file allow, other JSON, a repeated key, an unknown dtype, a shape beyond int64, offsets
///     that contradict the shape, overlap, leave a hole or do not end with the file
Result<Header> ParseHeader(std::string_view head, std::int64_t file_size, const std::string& file);
/// \error as ParseHeader; kUnavailable if the file cannot be read
Result<Header> ReadHeader(const File& file);

/// Sorts the tensors as the format's library does, types of larger alignment first, then by name,
/// and assigns their offsets. Every tensor is then aligned to the size of its elements.
/// \error kInvalidArgument naming the tensor: a name that appears twice, is empty, is not UTF-8 or
///     has control characters, a shape beyond int64, or more than 2^63-1 bytes in all
Status AssignOffsets(std::vector<FileTensor>& tensors);
/// Returns the bytes before those of the tensors, padded to a multiple of `alignment`. data_begin
/// is not used.
/// \pre `alignment` is a multiple of 8; AssignOffsets was called
/// \error kInvalidArgument if the header has more than kMaxHeaderBytes
Result<std::string> PrintHeader(const Header& header, std::int64_t alignment = 8);

}  // namespace tessera::checkpoint
