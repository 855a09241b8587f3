// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The header of a safetensors file: u64 LE N, N bytes of JSON (a '{' first, spaces behind it), the
/// bytes of the tensors. See FORMAT.md.

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

/// One tensor of one file.
struct FileTensor {
  std::string name;
  ptc::DType dtype = ptc::DType::kF32;
  ptc::Shape shape;
  std::int64_t begin = 0;  // bytes, relative to the first behind the header
  std::int64_t end = 0;
  friend bool operator==(const FileTensor&, const FileTensor&) = default;
};

struct Header {
  std::vector<FileTensor> tensors;  // in the order of their bytes
  std::map<std::string, std::string> metadata = {};
  std::int64_t data_begin = 8;  // offset of the first byte of tensors in the file
  friend bool operator==(const Header&, const Header&) = default;
};

/// Reads the header of a file whose first bytes, at least 8 + N of them where the file is that
/// long, are `head`.
/// \error kInvalidArgument: "'file' at byte n: …": a header that is too long for
///     the format or the file, is no such JSON or repeats a key, a dtype that is unknown, a shape
///     beyond int64, offsets that contradict the shape, overlap, leave a hole or do not end with
///     the file
Result<Header> ParseHeader(std::string_view head, std::int64_t file_size, const std::string& file);
/// \error that of ParseHeader; kUnavailable if the file cannot be read
Result<Header> ReadHeader(const File& file);

/// Gives the tensors the order and offsets of the format's library: types of larger alignment
/// first, then by name. So every tensor is aligned to the size of its elements.
/// \error kInvalidArgument naming the tensor: a name twice, empty, not UTF-8 or with control
///     characters, a shape beyond int64, or more than 2^63-1 bytes in all
Status AssignOffsets(std::vector<FileTensor>& tensors);
/// The bytes before the tensors', a multiple of `alignment` of them; data_begin is not read.
/// \pre alignment is a multiple of 8; tensors were placed
/// \error kInvalidArgument if the header has more than kMaxHeaderBytes
Result<std::string> PrintHeader(const Header& header, std::int64_t alignment = 8);

}  // namespace tessera::checkpoint
