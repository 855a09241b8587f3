// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The index of a Hugging Face folder, which names the file of each tensor.

#include <cstdint>
#include <map>
#include <string>

#include "engine/checkpoint/open_files.h"
#include "ptc/base/result.h"

namespace tessera::checkpoint {

struct Index {
  struct Entry {
    std::string file;     // a name without folders
    std::int64_t at = 0;  // the byte of the index that names the tensor
  };
  std::string path;
  std::map<std::string, Entry, std::less<>> tensors;
};

/// An index of ten million tensors. The limit bounds the memory that a file from outside can claim.
inline constexpr std::int64_t kMaxIndexBytes = std::int64_t{2} << 30;

/// \error kInvalidArgument naming file and byte for: no JSON object, no weight_map, a repeated key,
///     a file name that leads out of the folder; an index of more than kMaxIndexBytes
Result<Index> ReadIndex(const File& file);
/// Parses the text of an index.
/// \param path of the index, for errors
Result<Index> ParseIndex(std::string_view json, const std::string& path);

}  // namespace tessera::checkpoint
