// SPDX-License-Identifier: Apache-2.0
#include "engine/checkpoint/safetensors/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>

#include "engine/checkpoint/folder_names.h"
#include "engine/checkpoint/json_scanner.h"
#include "engine/checkpoint/safetensors/header.h"
#include "engine/checkpoint/safetensors/index.h"
#include "engine/checkpoint/safetensors/notes.h"
#include "engine/files/absolute_path.h"
#include "ptc/digest.h"

namespace tessera::checkpoint {
namespace {

namespace fs = std::filesystem;
using ptc::Box;

constexpr std::string_view kFileSuffix = ".safetensors";
constexpr std::string_view kIndexSuffix = ".safetensors.index.json";

/// Collects the tensors of several files.
class Assembly {
 public:
  Assembly(Format format, std::string path, FileOpener open = OpenLocal) {
    contents_.format = format;
    contents_.path = std::move(path);
    contents_.open = std::move(open);
  }

  Status Add(const std::string& path, Header header) {
    const auto file = static_cast<int>(contents_.files.size());
    contents_.files.push_back(path);
    TESSERA_TRY(const auto offsets, Take<Offsets>(header, kShardingKey, path, ParseOffsets));
    TESSERA_TRY(auto digests, TakeDigests(header, path));
    if (digests) {
      const std::string algorithm = header.metadata[std::string(kDigestAlgorithmKey)];
      if (algorithm != ptc::kDigestAlgorithm) {
        contents_.unknown_digests = algorithm;
        digests.reset();
      }
    }
    header.metadata.erase(std::string(kDigestAlgorithmKey));
    header.metadata.erase(std::string(kVersionKey));
    if (offsets) contents_.format = Format::kShardedSafetensors;
    for (FileTensor& tensor : header.tensors) {
      std::vector<std::int64_t> begin(tensor.shape.size(), 0);
      if (offsets) {
        const auto at = offsets->find(tensor.name);
        if (at == offsets->end() || at->second.size() != begin.size()) {
          return InvalidArgument(
              fmt::format("'{}' at byte 8: {} has {} offsets for tensor '{}' of {} "
                          "dims",
                          path, kShardingKey, at == offsets->end() ? 0 : at->second.size(),
                          tensor.name, begin.size()));
        }
        begin = at->second;
      }
      std::optional<std::uint64_t> digest;
      if (digests) {
        const auto at = digests->find(tensor.name);
        if (at != digests->end()) digest = at->second;
      }
      TESSERA_RETURN_IF_ERROR(AddBox(tensor, begin, file, header.data_begin + tensor.begin,
                                     offsets.has_value(), digest));
    }
    contents_.metadata.merge(header.metadata);
    return OkStatus();
  }

  void SetUnread(std::vector<std::string> lines) { contents_.unread = std::move(lines); }

  Result<std::shared_ptr<const Checkpoint>> Make() {
    for (auto& [name, tensor] : tensors_) contents_.tensors.push_back(std::move(tensor.stored));
    return Checkpoint::Make(std::move(contents_));
  }

 private:
  struct Growing {
    StoredTensor stored;
    bool sharded = false;
    int file = 0;  // the first file that has it
  };

  /// Removes a key from __metadata__ and returns its parsed value.
  template <typename Value, typename Parse>
  static Result<std::optional<Value>> Take(Header& header, std::string_view key,
                                           const std::string& path, Parse parse) {
    const auto at = header.metadata.find(std::string(key));
    if (at == header.metadata.end()) return std::optional<Value>();
    TESSERA_TRY(Value value, parse(at->second, path));
    header.metadata.erase(at);
    return std::optional<Value>(std::move(value));
  }

  /// Removes both keys of digests from __metadata__ and returns what they state.
  static Result<std::optional<Digests>> TakeDigests(Header& header, const std::string& path) {
    auto digests = DigestsIn(header, path);
    header.metadata.erase(std::string(kDigestKey));
    header.metadata.erase(std::string(kDigestListKey));
    return digests;
  }

  Status AddBox(const FileTensor& tensor, const std::vector<std::int64_t>& begin, int file,
                std::int64_t offset, bool sharded, std::optional<std::uint64_t> digest) {
    const auto wrong = [&](std::string_view what) {
      return InvalidArgument(fmt::format("'{}': tensor '{}' {}",
                                         contents_.files[static_cast<std::size_t>(file)],
                                         tensor.name, what));
    };
    const auto [at, added] = tensors_.try_emplace(tensor.name);
    Growing& growing = at->second;
    StoredTensor& stored = growing.stored;
    if (added) {
      growing.sharded = sharded;
      growing.file = file;
      stored = {.name = tensor.name,
                .dtype = tensor.dtype,
                .shape = ptc::Shape(tensor.shape.size(), 0),
                .boxes = {},
                .digest = 0};
    }
    const std::string& other = contents_.files[static_cast<std::size_t>(growing.file)];
    if (!added && !(sharded && growing.sharded)) {
      return wrong(fmt::format("lies in '{}' as well", other));
    }
    if (stored.dtype != tensor.dtype || stored.shape.size() != tensor.shape.size()) {
      return wrong(fmt::format("has another dtype or rank than in '{}'", other));
    }
    stored.digest =
        stored.digest && digest ? std::optional(*stored.digest + *digest) : std::nullopt;
    std::vector<ptc::Interval> dims;
    bool empty = false;
    for (std::size_t d = 0; d < begin.size(); ++d) {
      std::int64_t end = 0;
      if (__builtin_add_overflow(begin[d], tensor.shape[d], &end)) {
        return wrong(fmt::format("has offset {} of dim {}, beyond int64", begin[d], d));
      }
      stored.shape[d] = std::max(stored.shape[d], end);
      dims.push_back({begin[d], end});
      empty = empty || begin[d] == end;
    }
    if (empty) return OkStatus();
    TESSERA_TRY(const Box box, Box::Make(dims));
    stored.boxes.push_back({.box = box, .file = file, .offset = offset});
    return OkStatus();
  }

  Contents contents_;
  std::map<std::string, Growing> tensors_;
};

Result<Header> HeaderOf(const std::string& path, const FileOpener& open = OpenLocal) {
  TESSERA_TRY(const FilePtr file, open(path));
  return ReadHeader(*file);
}

/// Checks that the file has exactly the tensors that the index assigns to it.
Status CheckAgainstIndex(const Index& index, const std::string& name,
                         const std::set<std::string_view>& expected, const Header& header) {
  std::set<std::string_view> found;
  for (const FileTensor& tensor : header.tensors) {
    found.insert(tensor.name);
    if (expected.contains(tensor.name)) continue;
    const auto at = index.tensors.find(tensor.name);
    if (at == index.tensors.end()) {
      return InvalidArgument(fmt::format("'{}': the index does not name tensor '{}' of file '{}'",
                                         index.path, tensor.name, name));
    }
    return InvalidArgument(
        fmt::format("'{}' at byte {}: tensor '{}' lies in file '{}' as well as in "
                    "'{}'",
                    index.path, at->second.at, tensor.name, name, at->second.file));
  }
  for (const std::string_view tensor : expected) {
    if (found.contains(tensor)) continue;
    return InvalidArgument(fmt::format("'{}' at byte {}: file '{}' has no tensor '{}'", index.path,
                                       index.tensors.find(tensor)->second.at, name,
                                       Printable(tensor)));
  }
  return OkStatus();
}

Status AddIndexed(const std::string& folder, const Index& index, Assembly& assembly) {
  std::map<std::string_view, std::set<std::string_view>> by_file;
  for (const auto& [tensor, entry] : index.tensors) by_file[entry.file].insert(tensor);
  for (const auto& [name, expected] : by_file) {
    const std::string path = fmt::format("{}/{}", folder, name);
    auto header = HeaderOf(path);
    if (!header && header.error().code == ErrorCode::kNotFound) {
      return NotFound(fmt::format("'{}' at byte {}: file '{}' is missing", index.path,
                                  index.tensors.find(*expected.begin())->second.at,
                                  Printable(name)));
    }
    if (!header) return header.error();
    TESSERA_RETURN_IF_ERROR(CheckAgainstIndex(index, std::string(name), expected, *header));
    TESSERA_RETURN_IF_ERROR(assembly.Add(path, *std::move(header)));
  }
  return OkStatus();
}

}  // namespace

Result<std::shared_ptr<const Checkpoint>> OpenSafetensors(const std::string& path) {
  const std::string absolute = engine::AbsolutePath(path);
  TESSERA_TRY(Header header, HeaderOf(absolute));
  Assembly assembly(Format::kSafetensors, absolute);
  TESSERA_RETURN_IF_ERROR(assembly.Add(absolute, std::move(header)));
  return assembly.Make();
}

Result<std::shared_ptr<const Checkpoint>> OpenSafetensorsFiles(
    const std::string& place, const std::vector<std::string>& files, const FileOpener& open) {
  Assembly assembly(Format::kHuggingFace, place, open);
  for (const std::string& file : files) {
    TESSERA_TRY(Header header, HeaderOf(file, open));
    TESSERA_RETURN_IF_ERROR(assembly.Add(file, std::move(header)));
  }
  return assembly.Make();
}

Result<std::shared_ptr<const Checkpoint>> OpenSafetensorsFolder(const std::string& path) {
  const std::string folder = engine::AbsolutePath(path);
  Assembly assembly(Format::kHuggingFace, folder);
  TESSERA_TRY(const auto indices, NamesEndingIn(folder, kIndexSuffix));
  if (indices.size() > 1) {
    return InvalidArgument(
        fmt::format("'{}' has two indices, '{}' and '{}'", folder, indices[0], indices[1]));
  }
  if (indices.size() == 1) {
    TESSERA_TRY(const FilePtr file, File::Open(folder + "/" + indices[0], File::Mode::kRead));
    TESSERA_TRY(const Index index, ReadIndex(*file));
    TESSERA_RETURN_IF_ERROR(AddIndexed(folder, index, assembly));
    std::vector<std::string> read;
    for (const auto& [tensor, entry] : index.tensors) read.push_back(entry.file);
    TESSERA_TRY(auto unread, UnreadFiles(folder, kFileSuffix, std::move(read),
                                         fmt::format("{} does not name it", indices[0])));
    assembly.SetUnread(std::move(unread));
    return assembly.Make();
  }
  TESSERA_TRY(auto names, NamesEndingIn(folder, kFileSuffix));
  if (names.empty()) {
    return NotFound(
        fmt::format("'{}' is not a checkpoint: it has no *.safetensors, .metadata or "
                    "latest_checkpointed_iteration.txt in it",
                    folder));
  }
  for (std::string& name : names) name = folder + "/" + name;
  return OpenSafetensorsFiles(folder, names, OpenLocal);
}

}  // namespace tessera::checkpoint
