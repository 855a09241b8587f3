// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The index of a Hugging Face folder: which tensor lies in which file.

#include <cstdint>
#include <map>
#include <string>

#include "engine/checkpoint/open_files.h"
#include "ptc/base/result.h"

namespace tessera::checkpoint {

struct Index {
  struct Entry {
    std::string file;     // a name without folders
    std::int64_t at = 0;  // byte of the index where the tensor is named
  };
  std::string path;
  std::map<std::string, Entry, std::less<>> tensors;
};

/// \error kInvalidArgument with file and byte: no JSON object, no weight_map, a key twice, a file
///     name that leads out of the folder, an index of more than 100 MB
Result<Index> ReadIndex(const File& file);
/// The parser behind it.
Result<Index> ParseIndex(std::string_view json, const std::string& path);

}  // namespace tessera::checkpoint
