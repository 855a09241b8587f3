// SPDX-License-Identifier: Apache-2.0
#include "engine/data/text_dataset.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <system_error>

#include "engine/copy/checksum.h"
#include "engine/data/formats/record_limits.h"
#include "engine/data/local_source.h"
#include "engine/data/tokens.h"
#include "ptc/base/check.h"
#include "ptc/digest.h"

namespace tessera::engine {
namespace fs = std::filesystem;
namespace {

/// Adds an entry for each file: its size and the hash of its content, as
/// TextDataset::fingerprint describes. `size_bytes` is the size of all files.
Status HashTextFiles(std::span<const ByteSourcePtr> files, std::int64_t size_bytes,
                     IndexBuilder& builder) {
  constexpr std::int64_t kBlockBytes = 256 << 10, kMaxBlocks = 64;
  const std::int64_t stride = std::max(kBlockBytes, (size_bytes + kMaxBlocks - 1) / kMaxBlocks);
  std::vector<std::byte> block(static_cast<std::size_t>(kBlockBytes));
  for (const ByteSourcePtr& file : files) {
    builder.BeginFile();
    const std::int64_t file_bytes = file->size_bytes();
    std::uint64_t hash = 0;
    for (std::int64_t offset = 0; offset < file_bytes; offset += stride) {
      const std::int64_t left = file_bytes - offset;
      const auto bytes =
          std::span(block).first(static_cast<std::size_t>(std::min(kBlockBytes, left)));
      TESSERA_RETURN_IF_ERROR(file->ReadAt(offset, bytes));
      hash = ptc::Mix(hash + Checksum(bytes));
      TESSERA_RETURN_IF_ERROR(builder.Passed(std::min(stride, left)));
    }
    builder.Add({static_cast<std::uint64_t>(file_bytes), hash});
  }
  return OkStatus();
}

}  // namespace

std::vector<std::string> DefaultTextPaths() {
  std::vector<std::string> paths;
  std::error_code error;
  const std::string licences = "/usr/share/common-licenses";
  if (fs::is_directory(licences, error)) paths.push_back(licences);
  for (const char* root : {"/usr/lib", "/usr/local/lib"}) {
    std::vector<std::string> found;
    fs::directory_iterator it(root, error);
    for (; !error && it != fs::directory_iterator(); it.increment(error)) {
      std::error_code ignored;
      // python3 itself holds installed packages; python3.11 and the like hold the library.
      if (it->path().filename().string().starts_with("python3.") && it->is_directory(ignored)) {
        found.push_back(it->path());
      }
    }
    std::sort(found.begin(), found.end());
    paths.insert(paths.end(), found.begin(), found.end());
  }
  return paths;
}

Result<bool> LooksLikeText(const ByteSource& source) {
  std::array<std::byte, 4096> head{};
  const auto size = std::min(static_cast<std::int64_t>(head.size()), source.size_bytes());
  const auto bytes = std::span(head).first(static_cast<std::size_t>(size));
  TESSERA_RETURN_IF_ERROR(source.ReadAt(0, bytes));
  return std::memchr(bytes.data(), 0, bytes.size()) == nullptr;
}

Result<std::vector<ByteSourcePtr>> OpenTextFiles(const std::string& path,
                                                 const SourceOpener& opener) {
  TESSERA_TRY(const std::vector<std::string> names, opener.List(path));
  std::vector<ByteSourcePtr> files;
  if (names.size() == 1 && names[0] == path) {
    TESSERA_TRY(ByteSourcePtr file, opener.Open(path));
    files.push_back(std::move(file));
    return files;
  }
  for (const std::string& name : names) {
    TESSERA_TRY(ByteSourcePtr file, opener.Open(name));
    TESSERA_TRY(const bool is_text, LooksLikeText(*file));
    if (is_text) files.push_back(std::move(file));
  }
  return files;
}

Result<TextDataset> TextDataset::Open(const std::vector<std::string>& paths,
                                      std::int64_t sequence) {
  const LocalFiles local;
  std::vector<ByteSourcePtr> files;
  for (const std::string& path : paths) {
    TESSERA_TRY(std::vector<ByteSourcePtr> found, OpenTextFiles(path, local));
    std::move(found.begin(), found.end(), std::back_inserter(files));
  }
  return Make(std::move(files), sequence);
}

Result<TextDataset> TextDataset::Make(std::vector<ByteSourcePtr> files, std::int64_t sequence,
                                      const IndexOptions& options) {
  if (sequence < 1) {
    return InvalidArgument(fmt::format("sequence length {} is below 1", sequence));
  }
  TextDataset dataset;
  dataset.sequence_ = sequence;
  for (ByteSourcePtr& file : files) {
    const std::int64_t size_bytes = file->size_bytes();
    if (size_bytes == 0) continue;
    dataset.files_.push_back({std::move(file), dataset.size_bytes_});
    dataset.size_bytes_ += size_bytes;
  }
  if (dataset.size_bytes_ < sequence + 1) {
    return InvalidArgument(
        fmt::format("data set has {} bytes, a sample needs {}", dataset.size_bytes_, sequence + 1));
  }
  std::vector<ByteSourcePtr> sources;
  for (const File& file : dataset.files_) sources.push_back(file.source);
  TESSERA_TRY(const RecordIndexPtr hashes, OpenIndex(DataFormat::kText, 2, sources.size(), sources,
                                                     options, [&](IndexBuilder& builder) -> Status {
                                                       return HashTextFiles(
                                                           sources, dataset.size_bytes_, builder);
                                                     }));
  dataset.fingerprint_ = RecordsFingerprint(DataFormat::kText, sequence, *hashes);
  return dataset;
}

std::vector<TextDataset::File>::const_iterator TextDataset::FileAt(std::int64_t position) const {
  return std::prev(std::upper_bound(
      files_.begin(), files_.end(), position,
      [](std::int64_t at, const File& candidate) { return at < candidate.begin; }));
}

Status TextDataset::Read(std::int64_t sample, std::span<std::uint8_t> out) const {
  TESSERA_CHECK(0 <= sample && sample < num_samples());
  TESSERA_CHECK(static_cast<std::int64_t>(out.size()) == sequence_ + 1);
  std::int64_t position = sample * sequence_;
  for (auto file = FileAt(position); !out.empty(); ++file) {
    const std::int64_t offset = position - file->begin;
    const std::size_t count = static_cast<std::size_t>(
        std::min(file->source->size_bytes() - offset, static_cast<std::int64_t>(out.size())));
    TESSERA_RETURN_IF_ERROR(file->source->ReadAt(offset, std::as_writable_bytes(out.first(count))));
    out = out.subspan(count);
    position += static_cast<std::int64_t>(count);
  }
  return OkStatus();
}

Status TextDataset::ReadTokens(std::int64_t sample, std::span<std::int32_t> out) const {
  std::vector<std::uint8_t> window(out.size());
  TESSERA_RETURN_IF_ERROR(Read(sample, window));
  BytesToTokens(std::as_bytes(std::span(window)), out);
  return OkStatus();
}

Result<std::vector<std::byte>> TextDataset::ReadRecord(std::int64_t sample) const {
  std::vector<std::uint8_t> window(static_cast<std::size_t>(sequence_ + 1));
  TESSERA_RETURN_IF_ERROR(Read(sample, window));
  const auto bytes = std::as_bytes(std::span(window));
  return std::vector<std::byte>(bytes.begin(), bytes.end());
}

std::string TextDataset::Describe(std::int64_t sample) const {
  const auto file = FileAt(sample * sequence_);
  return fmt::format("{} at byte {}", file->source->name(), sample * sequence_ - file->begin);
}

}  // namespace tessera::engine
