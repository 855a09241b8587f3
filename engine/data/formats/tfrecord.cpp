// SPDX-License-Identifier: Apache-2.0
#include "engine/data/formats/tfrecord.h"

#include <fmt/format.h>

#include "engine/data/data_error.h"
#include "engine/data/formats/crc32c.h"
#include "engine/data/formats/example_proto.h"
#include "engine/data/formats/record_limits.h"
#include "engine/data/formats/records_dataset.h"
#include "engine/data/scan_reader.h"
#include "engine/data/tokens.h"

namespace tessera::engine {
namespace {

constexpr std::int64_t kHead = 12, kTail = 4;
using Bytes = std::span<const std::byte>;

/// Returns the length of the data of a record, from its head.
Result<std::int64_t> DataSize(const ByteSource& file, std::int64_t offset, Bytes head) {
  if (MaskCrc(Crc32c(head.first(8))) != Load<std::uint32_t>(head, 8)) {
    return BadData(file, offset, "the CRC of a record's length is wrong");
  }
  const auto size = Load<std::uint64_t>(head);
  const std::int64_t left = file.size_bytes() - offset - kHead - kTail;
  if (left < 0 || size > static_cast<std::uint64_t>(left)) {
    return BadData(file, offset,
                   fmt::format("a record of {} bytes of data is cut off: the file has {} bytes",
                               size, file.size_bytes()));
  }
  if (size > static_cast<std::uint64_t>(kMaxRecordBytes)) {
    return BadData(
        file, offset,
        fmt::format("a record has {} bytes of data, the limit is {}", size, kMaxRecordBytes));
  }
  return static_cast<std::int64_t>(size);
}

/// Returns the bytes of `data`, that of a record, that are tokens.
/// \error kInvalidArgument for an Example without a text
Result<Bytes> TextOf(const ByteSource& file, std::int64_t offset, Bytes data) {
  if (const auto text = BytesFeature(data, "text")) return *text;
  if (!IsExample(data)) return data;
  return InvalidArgument(
      fmt::format("data file '{}' at byte {}: the record is a tf.train.Example without the bytes "
                  "feature 'text', so there is nothing to train on",
                  file.name(), offset));
}

Status ScanTfRecords(const ByteSource& file, IndexBuilder& builder) {
  builder.BeginFile();
  ScanReader reader(file);
  for (std::int64_t offset = 0; offset < file.size_bytes();) {
    if (file.size_bytes() - offset < kHead) {
      return BadData(file, offset, "the head of a record is cut off");
    }
    TESSERA_TRY(const Bytes head, reader.At(offset, kHead));
    TESSERA_TRY(const std::int64_t data, DataSize(file, offset, head));
    const std::int64_t size = kHead + data + kTail;
    TESSERA_TRY(const Bytes record, reader.At(offset, size));
    TESSERA_TRY(const Bytes text,
                TextOf(file, offset, record.subspan(kHead, static_cast<std::size_t>(data))));
    builder.Add({static_cast<std::uint64_t>(offset), static_cast<std::uint64_t>(size),
                 static_cast<std::uint64_t>(text.size())});
    TESSERA_RETURN_IF_ERROR(builder.Passed(size));
    offset += size;
  }
  return OkStatus();
}

class TfRecordDataset final : public RecordsDataset {
 public:
  TfRecordDataset(std::vector<ByteSourcePtr> files, std::int64_t sequence, RecordIndexPtr index)
      : RecordsDataset(std::move(files), sequence, std::move(index), "record") {}

  DataFormat format() const override { return DataFormat::kTfRecord; }

  Status ReadTokens(std::int64_t sample, std::span<std::int32_t> out) const override {
    TESSERA_TRY(const std::vector<std::byte> record, ReadRecord(sample));
    const Bytes data = Bytes(record).subspan(kHead, record.size() - kHead - kTail);
    const RecordLocation place = LocationOf(sample);
    TESSERA_TRY(const Bytes text, TextOf(place.file, place.offset(), data));
    BytesToTokens(text, out);
    return OkStatus();
  }

  Result<std::vector<std::byte>> ReadRecord(std::int64_t sample) const override {
    const RecordLocation place = LocationOf(sample);
    const std::int64_t offset = place.offset(), size = place.size();
    if (size < kHead + kTail || size > kHead + kMaxRecordBytes + kTail) {
      return BadData(place.file, offset, fmt::format("the index gives a record {} bytes", size));
    }
    std::vector<std::byte> record(static_cast<std::size_t>(size));
    TESSERA_RETURN_IF_ERROR(ReadChecked(place.file, offset, record));
    TESSERA_TRY(const std::int64_t data, DataSize(place.file, offset, record));
    if (kHead + data + kTail != size) {
      return BadData(place.file, offset, "the record has another length than when it was indexed");
    }
    const Bytes bytes = Bytes(record).subspan(kHead, static_cast<std::size_t>(data));
    if (MaskCrc(Crc32c(bytes)) != Load<std::uint32_t>(record, record.size() - kTail)) {
      return BadData(place.file, offset, "the CRC of a record's data is wrong");
    }
    return record;
  }

  std::int64_t RecordBytes(std::int64_t sample) const override { return LocationOf(sample).size(); }
};

}  // namespace

Result<DatasetPtr> OpenTfRecords(std::vector<ByteSourcePtr> files, std::int64_t sequence,
                                 const IndexOptions& options) {
  TESSERA_TRY(RecordIndexPtr index,
              OpenIndex(DataFormat::kTfRecord, 3, files.size(), files, options,
                        [&files](IndexBuilder& builder) -> Status {
                          for (const ByteSourcePtr& file : files) {
                            TESSERA_RETURN_IF_ERROR(ScanTfRecords(*file, builder));
                          }
                          return OkStatus();
                        }));
  TESSERA_RETURN_IF_ERROR(CheckRecords(*index, files, sequence));
  return std::make_shared<const TfRecordDataset>(std::move(files), sequence, std::move(index));
}

}  // namespace tessera::engine
