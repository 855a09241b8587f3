// SPDX-License-Identifier: Apache-2.0
#include "engine/data/formats/tar.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "engine/data/data_error.h"
#include "engine/data/formats/record_limits.h"
#include "engine/data/formats/records_dataset.h"
#include "engine/data/formats/tar_header.h"
#include "engine/data/tokens.h"

namespace tessera::engine {
namespace {

/// The first member of the smallest rank has the tokens.
int TextRank(std::string_view extension) {
  constexpr std::array<std::string_view, 3> kWanted = {"txt", "text", "json"};
  std::string lower(extension);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return 'A' <= c && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return static_cast<int>(std::ranges::find(kWanted, lower) - kWanted.begin());
}

/// The sample whose members are being read.
struct OpenSample {
  std::string name;
  std::int64_t begin = 0, end = 0;
  std::int64_t text_begin = 0, text_size = 0;
  int text_rank = 0;
};

class TarScan {
 public:
  TarScan(const ByteSource& file, IndexBuilder& builder) : file_(file), builder_(builder) {}

  Status Run() {
    builder_.BeginFile();
    ScanReader reader(file_);
    std::int64_t offset = 0;
    for (;;) {
      TESSERA_TRY(const auto member, ReadTarMember(file_, reader, offset));
      if (!member) break;
      Add(*member);
      TESSERA_RETURN_IF_ERROR(builder_.Passed(member->end - offset));
      offset = member->end;
    }
    Close();
    return builder_.Passed(file_.size_bytes() - offset);
  }

 private:
  void Add(const TarMember& member) {
    const TarKey key = SplitTarName(member.name);
    if (!member.is_file || key.sample.empty()) return;
    const int rank = TextRank(key.extension);
    if (!is_open_ || key.sample != sample_.name) {
      Close();
      is_open_ = true;
      sample_ = {std::string(key.sample), member.begin,      member.end,
                 member.data_begin,       member.size_bytes, rank};
      return;
    }
    sample_.end = member.end;
    if (rank >= sample_.text_rank) return;
    sample_.text_rank = rank;
    sample_.text_begin = member.data_begin;
    sample_.text_size = member.size_bytes;
  }
  void Close() {
    if (!is_open_) return;
    is_open_ = false;
    const auto word = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
    builder_.Add({word(sample_.begin), word(sample_.end - sample_.begin), word(sample_.text_begin),
                  word(sample_.text_size)});
  }

  const ByteSource& file_;
  IndexBuilder& builder_;
  OpenSample sample_;
  bool is_open_ = false;
};

class TarDataset final : public RecordsDataset {
 public:
  TarDataset(std::vector<ByteSourcePtr> files, std::int64_t sequence, RecordIndexPtr index)
      : RecordsDataset(std::move(files), sequence, std::move(index), "sample") {}

  DataFormat format() const override { return DataFormat::kTar; }

  Status ReadTokens(std::int64_t sample, std::span<std::int32_t> out) const override {
    const auto [file, entry] = LocationOf(sample);
    std::vector<std::byte> text(
        static_cast<std::size_t>(std::min<std::uint64_t>(entry[3], out.size())));
    TESSERA_RETURN_IF_ERROR(ReadChecked(file, static_cast<std::int64_t>(entry[2]), text));
    BytesToTokens(text, out);
    return OkStatus();
  }

  Result<std::vector<std::byte>> ReadRecord(std::int64_t sample) const override {
    const RecordLocation place = LocationOf(sample);
    if (place.entry[1] > static_cast<std::uint64_t>(kMaxRecordBytes)) {
      return BadData(
          place.file, place.offset(),
          fmt::format("a sample has {} bytes, the limit is {}", place.entry[1], kMaxRecordBytes));
    }
    std::vector<std::byte> record(static_cast<std::size_t>(place.size()));
    TESSERA_RETURN_IF_ERROR(ReadChecked(place.file, place.offset(), record));
    record.resize(static_cast<std::size_t>(RecordBytes(sample)));
    return record;
  }

  std::int64_t RecordBytes(std::int64_t sample) const override {
    return (LocationOf(sample).size() + kTarBlock - 1) / kTarBlock * kTarBlock;
  }
};

}  // namespace

TarKey SplitTarName(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  const std::size_t begin = slash == std::string_view::npos ? 0 : slash + 1;
  const std::size_t dot = path.find('.', begin);
  const bool is_meta = path.starts_with("__") && path.ends_with("__");
  if (dot == std::string_view::npos || dot == begin || is_meta) return {};
  return {path.substr(0, dot), path.substr(dot + 1)};
}

Result<DatasetPtr> OpenTar(std::vector<ByteSourcePtr> files, std::int64_t sequence,
                           const IndexOptions& options) {
  TESSERA_TRY(RecordIndexPtr index, OpenIndex(DataFormat::kTar, 4, files.size(), files, options,
                                              [&files](IndexBuilder& builder) -> Status {
                                                for (const ByteSourcePtr& file : files) {
                                                  TarScan scan(*file, builder);
                                                  TESSERA_RETURN_IF_ERROR(scan.Run());
                                                }
                                                return OkStatus();
                                              }));
  TESSERA_RETURN_IF_ERROR(CheckRecords(*index, files, sequence));
  return std::make_shared<const TarDataset>(std::move(files), sequence, std::move(index));
}

}  // namespace tessera::engine
