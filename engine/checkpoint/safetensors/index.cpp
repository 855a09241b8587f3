// SPDX-License-Identifier: Apache-2.0
#include "engine/checkpoint/safetensors/index.h"

#include <fmt/format.h>

#include "engine/checkpoint/json_scanner.h"

namespace tessera::checkpoint {
namespace {

bool IsFileName(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == name.npos &&
         name.find('\0') == name.npos;
}

Status ReadWeightMap(JsonScanner& scan, Index& index) {
  return scan.Object([&](std::string name, std::size_t at) -> Status {
    const std::size_t value_at = scan.Position();
    TESSERA_TRY(std::string file, scan.String());
    if (!IsFileName(file)) {
      return scan.Wrong(
          value_at, fmt::format("'{}' is not the name of a file in this folder", Printable(file)));
    }
    const auto [entry, added] = index.tensors.try_emplace(
        std::move(name), Index::Entry{std::move(file), static_cast<std::int64_t>(at)});
    if (added) return OkStatus();
    return scan.Wrong(at, fmt::format("tensor '{}' appears twice", Printable(entry->first)));
  });
}

}  // namespace

Result<Index> ParseIndex(std::string_view json, const std::string& path) {
  JsonScanner scan(json, path);
  Index index{.path = path, .tensors = {}};
  bool found = false;
  TESSERA_RETURN_IF_ERROR(scan.Object([&](const std::string& key, std::size_t at) -> Status {
    if (key != "weight_map") return scan.Skip();
    if (found) return scan.Wrong(at, "weight_map appears twice");
    found = true;
    return ReadWeightMap(scan, index);
  }));
  TESSERA_RETURN_IF_ERROR(scan.End());
  if (!found) return scan.Wrong(0, "no weight_map in the index");
  return index;
}

Result<Index> ReadIndex(const File& file) {
  TESSERA_TRY(const std::string text,
              file.ReadAll(kMaxIndexBytes, "open the files that it names one by one"));
  return ParseIndex(text, file.path());
}

}  // namespace tessera::checkpoint
