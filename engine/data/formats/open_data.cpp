// SPDX-License-Identifier: Apache-2.0
#include "engine/data/formats/open_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <set>
#include <string_view>

#include "engine/data/formats/megatron.h"
#include "engine/data/formats/opening_progress.h"
#include "engine/data/formats/tar.h"
#include "engine/data/formats/tfrecord.h"
#include "engine/data/is_url.h"
#include "engine/data/text_dataset.h"

namespace tessera::engine {
namespace {

/// The files of one path, or of all paths together.
struct Found {
  std::vector<ByteSourcePtr> text, tfrecord, tar;
  std::vector<MegatronPair> megatron;
  bool is_text_named = false;  // text was named itself, or there is nothing but text

  bool has_records() const { return !tfrecord.empty() || !tar.empty() || !megatron.empty(); }
  void Append(Found other) {
    const auto move = [](auto& from, auto& to) {
      std::move(from.begin(), from.end(), std::back_inserter(to));
    };
    move(other.text, text);
    move(other.tfrecord, tfrecord);
    move(other.tar, tar);
    move(other.megatron, megatron);
    is_text_named = is_text_named || other.is_text_named;
  }
};

/// Returns the name without the query of a URL, which may be a signature.
std::string_view PathOf(std::string_view name) {
  return IsUrl(name) ? name.substr(0, name.find('?')) : name;
}

std::string_view FileName(std::string_view name) {
  name = PathOf(name);
  return name.substr(name.rfind('/') + 1);  // npos + 1 == 0
}

bool IsTfRecord(std::string_view name) {
  const std::string_view file = FileName(name);
  return file.ends_with(".tfrecord") || file.ends_with(".tfrecords") ||
         file.find(".tfrecord-") != std::string_view::npos;
}

bool IsCompressed(std::string_view name) {
  const std::string_view file = FileName(name);
  const bool is_packed = file.ends_with(".gz") || file.ends_with(".zst") || file.ends_with(".xz") ||
                         file.ends_with(".bz2");
  return file.ends_with(".tgz") ||
         (is_packed && (file.find(".tar.") != std::string_view::npos ||
                        file.find(".tfrecord") != std::string_view::npos));
}

/// Whether it is one of the two files of a Megatron pair.
bool IsHalf(std::string_view name) {
  return PathOf(name).ends_with(".bin") || PathOf(name).ends_with(".idx");
}
/// Returns the file of the pair with the given ending. A query belongs to both files.
/// \pre IsHalf(name)
std::string HalfOf(const std::string& name, std::string_view ending) {
  const std::size_t end = PathOf(name).size();
  return name.substr(0, end - ending.size()).append(ending) + name.substr(end);
}

/// Opens files and reports each to the progress.
struct Finder {
  const SourceOpener& opener;
  OpeningProgress& progress;

  Result<ByteSourcePtr> Open(const std::string& name) const {
    TESSERA_TRY(ByteSourcePtr file, opener.Open(name));
    TESSERA_RETURN_IF_ERROR(progress.Found(file->size_bytes()));
    return file;
  }
};

Result<MegatronPair> OpenPair(const std::string& idx, const std::string& bin,
                              const Finder& finder) {
  MegatronPair pair;
  TESSERA_TRY(pair.idx, finder.opener.Open(idx));
  TESSERA_TRY(pair.bin, finder.opener.Open(bin));
  TESSERA_RETURN_IF_ERROR(finder.progress.Found(pair.idx->size_bytes() +
                                                pair.bin->size_bytes()));  // of both or of none
  return pair;
}

/// Opens one file by its name.
Result<Found> FindFile(const std::string& name, const Finder& finder) {
  Found found;
  if (IsCompressed(name)) {
    return InvalidArgument(
        fmt::format("'{}' is compressed and cannot be read by range: unpack it", name));
  }
  const bool is_tar = FileName(name).ends_with(".tar"), is_tfrecord = IsTfRecord(name);
  if (IsHalf(name)) {
    auto pair = OpenPair(HalfOf(name, ".idx"), HalfOf(name, ".bin"), finder);
    if (pair) {
      found.megatron.push_back(std::move(*pair));
      return found;
    }
    // A pair that cannot be reached now is not text.
    if (pair.error().code != ErrorCode::kNotFound) return std::move(pair).error();
  }
  TESSERA_TRY(ByteSourcePtr file, finder.Open(name));
  (is_tar ? found.tar : is_tfrecord ? found.tfrecord : found.text).push_back(std::move(file));
  found.is_text_named = !found.has_records();
  return found;
}

/// Opens a file of a folder. Returns null if it is not text.
Result<ByteSourcePtr> OpenText(const std::string& name, const Finder& finder) {
  TESSERA_TRY(ByteSourcePtr file, finder.opener.Open(name));
  TESSERA_TRY(const bool is_text, LooksLikeText(*file));
  if (!is_text) return ByteSourcePtr();
  TESSERA_RETURN_IF_ERROR(finder.progress.Found(file->size_bytes()));
  return file;
}

Result<Found> FindInFolder(const std::vector<std::string>& names, const Finder& finder) {
  Found found;
  const std::set<std::string_view> all(names.begin(), names.end());
  for (const std::string& name : names) {
    const bool is_paired =
        IsHalf(name) && all.contains(HalfOf(name, ".idx")) && all.contains(HalfOf(name, ".bin"));
    if (is_paired) {
      if (PathOf(name).ends_with(".bin")) continue;  // opened with its .idx
      TESSERA_TRY(MegatronPair pair, OpenPair(name, HalfOf(name, ".bin"), finder));
      found.megatron.push_back(std::move(pair));
    } else if (FileName(name).ends_with(".tar") || IsTfRecord(name) || IsCompressed(name)) {
      TESSERA_TRY(Found file, FindFile(name, finder));
      found.Append(std::move(file));
    } else {
      TESSERA_TRY(ByteSourcePtr file, OpenText(name, finder));
      if (file) found.text.push_back(std::move(file));
    }
  }
  found.is_text_named = !found.has_records();
  return found;
}

Result<Found> Find(const std::string& path, std::span<const SourceOpener* const> openers,
                   OpeningProgress& progress) {
  const auto opener = std::ranges::find_if(
      openers, [&](const SourceOpener* candidate) { return candidate->Knows(path); });
  if (opener == openers.end()) {
    return InvalidArgument(fmt::format("data path '{}' is of an unknown kind", path));
  }
  const Finder finder{**opener, progress};
  auto names = (*opener)->List(path);
  if (!names && names.error().code == ErrorCode::kNotFound) {
    // Megatron itself names a pair without the endings.
    if (auto pair = OpenPair(path + ".idx", path + ".bin", finder)) {
      Found found;
      found.megatron.push_back(std::move(*pair));
      return found;
    }
  }
  if (!names) return std::move(names).error();
  if (names->size() == 1 && names->front() == path) return FindFile(path, finder);
  return FindInFolder(*names, finder);
}

std::int64_t BytesOf(const std::vector<ByteSourcePtr>& files) {
  std::int64_t bytes = 0;
  for (const ByteSourcePtr& file : files) bytes += file->size_bytes();
  return bytes;
}

std::int64_t BytesOf(const std::vector<MegatronPair>& pairs) {
  std::int64_t bytes = 0;
  for (const MegatronPair& pair : pairs) bytes += pair.idx->size_bytes() + pair.bin->size_bytes();
  return bytes;
}

/// Opens the parts of the files found, without weights.
Result<std::vector<DatasetPtr>> OpenParts(Found found, std::int64_t sequence,
                                          OpeningProgress& progress) {
  const IndexOptions options = progress.ForPart();
  std::vector<DatasetPtr> parts;
  const std::int64_t text_bytes = BytesOf(found.text);
  if (found.is_text_named || !found.has_records() || text_bytes > sequence) {
    const bool is_only = !found.has_records();
    if (is_only || !found.text.empty()) {
      TESSERA_TRY(TextDataset text, TextDataset::Make(std::move(found.text), sequence, options));
      parts.push_back(std::make_shared<const TextDataset>(std::move(text)));
    }
  }
  progress.Opened(text_bytes);
  const auto open = [&](auto files, auto open_format) -> Status {
    if (files.empty()) return OkStatus();
    const std::int64_t bytes = BytesOf(files);
    TESSERA_TRY(DatasetPtr data, open_format(std::move(files), sequence, options));
    parts.push_back(std::move(data));
    progress.Opened(bytes);
    return OkStatus();
  };
  TESSERA_RETURN_IF_ERROR(open(std::move(found.megatron), OpenMegatron));
  TESSERA_RETURN_IF_ERROR(open(std::move(found.tfrecord), OpenTfRecords));
  TESSERA_RETURN_IF_ERROR(open(std::move(found.tar), OpenTar));
  return parts;
}

void AddParts(std::vector<DatasetPtr> opened, double weight, std::vector<DataMix::Part>& parts) {
  double samples = 0;
  for (const DatasetPtr& data : opened) samples += static_cast<double>(data->num_samples());
  for (DatasetPtr& data : opened) {
    const double share = static_cast<double>(data->num_samples()) / samples;
    parts.push_back({std::move(data), weight * share});
  }
}

}  // namespace

Result<WeightedPath> ParseWeightedPath(const std::string& text) {
  double weight = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, weight);
  if (error == std::errc::invalid_argument || at == end || *at != ':') return WeightedPath{0, text};
  if (error != std::errc() || !std::isfinite(weight) || weight <= 0) {
    return InvalidArgument(fmt::format("the weight of data '{}' is not above 0", ShownName(text)));
  }
  return WeightedPath{weight, std::string(at + 1, end)};
}

Result<DataMix> OpenData(const std::vector<std::string>& paths, std::int64_t sequence,
                         std::span<const SourceOpener* const> openers,
                         const IndexOptions& options) {
  if (paths.empty()) return InvalidArgument("no data path is given");
  std::vector<DataMix::Part> parts;
  OpeningProgress progress(options);
  Found unweighted;
  bool has_unweighted = false;
  for (const std::string& text : paths) {
    TESSERA_TRY(const WeightedPath path, ParseWeightedPath(text));
    if (has_unweighted != (path.weight == 0) && &text != &paths.front()) {
      return InvalidArgument(fmt::format(
          "data '{}' has {} weight, those before it have {}: give one to all or to none",
          ShownName(text), path.weight == 0 ? "no" : "a", path.weight == 0 ? "one" : "none"));
    }
    has_unweighted = path.weight == 0;
    TESSERA_TRY(Found found, Find(path.path, openers, progress));
    if (has_unweighted) {
      unweighted.Append(std::move(found));
    } else {
      TESSERA_TRY(auto opened, OpenParts(std::move(found), sequence, progress));
      AddParts(std::move(opened), path.weight, parts);
    }
  }
  if (has_unweighted) {
    TESSERA_TRY(auto opened, OpenParts(std::move(unweighted), sequence, progress));
    AddParts(std::move(opened), 0, parts);
  }
  return DataMix::Make(std::move(parts));
}

}  // namespace tessera::engine
