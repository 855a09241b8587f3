// SPDX-License-Identifier: Apache-2.0
#include "engine/data/formats/share_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "engine/data/formats/megatron_index.h"
#include "engine/data/formats/record_limits.h"
#include "engine/data/formats/tar_header.h"
#include "engine/data/formats/tar_separator.h"
#include "ptc/base/check.h"

namespace tessera::engine {
namespace {

/// What the files of a mix contain.
struct ShareFormat {
  DataFormat format = DataFormat::kMegatron;
  std::optional<TokenType> type = {};  // of Megatron
  bool as_tokens = false;              // what the trainer reads, not the records
};

ShareFormat FormatOf(const DataMix& data) {
  const Dataset& first = *data.parts().front().data;
  const bool is_one = std::ranges::all_of(data.parts(), [&](const DataMix::Part& part) {
    return part.data->format() == first.format() && part.data->token_type() == first.token_type();
  });
  if (!is_one) return {DataFormat::kMegatron, TokenType::kI32, true};
  return {first.format(), first.token_type(), false};
}

const Dataset& DataOf(const DataMix& data, const SampleId& id) {
  return *data.parts()[static_cast<std::size_t>(id.part)].data;
}

std::int64_t RecordBytes(const DataMix& data, const ShareFormat& format, const SampleId& id) {
  if (format.as_tokens) return (data.sequence() + 1) * SizeOf(*format.type);
  return DataOf(data, id).RecordBytes(id.sample);
}

Result<std::int64_t> SizeOfRecords(const DataMix& data, const ShareFormat& format,
                                   std::span<const SampleId> samples) {
  constexpr std::int64_t kFrame = 1024;  // more than any format adds to the data of a record
  std::int64_t bytes = 0;
  for (const SampleId& id : samples) {
    const std::int64_t record = RecordBytes(data, format, id);
    if (record < 0 || record > kMaxRecordBytes + kFrame) {
      return DataLoss(fmt::format("{} has {} bytes, the limit is {}",
                                  DataOf(data, id).Describe(id.sample), record, kMaxRecordBytes));
    }
    bytes += record;
    if (bytes > kMaxShareBytes) {
      return ResourceExhausted(fmt::format("{} samples have {} bytes or more, the limit is {}",
                                           samples.size(), bytes, kMaxShareBytes));
    }
  }
  return bytes;
}

template <typename Number>
void Append(std::string& out, Number number) {
  out.append(reinterpret_cast<const char*>(&number), sizeof number);
}

/// One sequence per sample, one document per sequence (megatron.h).
std::string MegatronIdx(std::int64_t num_samples, std::int64_t tokens, TokenType type) {
  std::string out("MMIDIDX\0\0", 9);
  Append<std::uint64_t>(out, 1);
  Append(out, static_cast<std::uint8_t>(type));
  Append<std::int64_t>(out, num_samples);
  Append<std::int64_t>(out, num_samples + 1);
  for (std::int64_t i = 0; i < num_samples; ++i) Append(out, static_cast<std::int32_t>(tokens));
  for (std::int64_t i = 0; i < num_samples; ++i) Append(out, i * tokens * SizeOf(type));
  for (std::int64_t i = 0; i <= num_samples; ++i) Append(out, i);
  return out;
}

/// A sample as i32 tokens.
Status AppendTokens(const DataMix& data, const SampleId& id, std::string& out) {
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(data.sequence() + 1));
  TESSERA_RETURN_IF_ERROR(data.ReadTokens(id, tokens));
  out.append(reinterpret_cast<const char*>(tokens.data()), tokens.size() * sizeof tokens[0]);
  return OkStatus();
}

Status AppendRecord(const DataMix& data, const SampleId& id, TarSeparator& archive,
                    std::string& out) {
  const Dataset& part = DataOf(data, id);
  TESSERA_TRY(std::vector<std::byte> record, part.ReadRecord(id.sample));
  TESSERA_CHECK(std::ssize(record) == part.RecordBytes(id.sample));
  if (part.format() == DataFormat::kTar) {
    TESSERA_RETURN_IF_ERROR(archive.Next(record).Context(part.Describe(id.sample)));
  }
  out.append(reinterpret_cast<const char*>(record.data()), record.size());
  return OkStatus();
}

}  // namespace

std::string_view ToString(ShareEnding ending) {
  switch (ending) {
    case ShareEnding::kText:
      return ".txt";
    case ShareEnding::kBin:
      return ".bin";
    case ShareEnding::kIdx:
      return ".idx";
    case ShareEnding::kTfRecord:
      return ".tfrecord";
    case ShareEnding::kTar:
      return ".tar";
  }
  CheckFailed(__FILE__, __LINE__, "a known ending");
}

std::vector<ShareEnding> ShareEndings(const DataMix& data) {
  switch (FormatOf(data).format) {
    case DataFormat::kText:
      return {ShareEnding::kText};
    case DataFormat::kMegatron:
      return {ShareEnding::kBin, ShareEnding::kIdx};
    case DataFormat::kTfRecord:
      return {ShareEnding::kTfRecord};
    case DataFormat::kTar:
      return {ShareEnding::kTar};
  }
  CheckFailed(__FILE__, __LINE__, "a known data format");
}

Result<std::int64_t> ShareFileBytes(const DataMix& data, std::span<const SampleId> samples,
                                    ShareEnding ending) {
  const ShareFormat format = FormatOf(data);
  TESSERA_TRY(const std::int64_t records, SizeOfRecords(data, format, samples));
  if (ending == ShareEnding::kTar) return records + kTarEnd;
  if (ending != ShareEnding::kIdx) return records;
  return std::ssize(MegatronIdx(0, 0, *format.type)) + std::ssize(samples) * (4 + 8 + 8);
}

Result<std::string> MakeShareFile(const DataMix& data, std::span<const SampleId> samples,
                                  ShareEnding ending) {
  const ShareFormat format = FormatOf(data);
  if (ending == ShareEnding::kIdx) {
    return MegatronIdx(std::ssize(samples), data.sequence() + 1, *format.type);
  }
  TESSERA_TRY(const std::int64_t bytes, ShareFileBytes(data, samples, ending));
  std::string out;
  out.reserve(static_cast<std::size_t>(bytes));
  TarSeparator archive;
  for (const SampleId& id : samples) {
    TESSERA_RETURN_IF_ERROR(format.as_tokens ? AppendTokens(data, id, out)
                                             : AppendRecord(data, id, archive, out));
  }
  if (ending == ShareEnding::kTar) out.append(kTarEnd, '\0');
  return out;
}

}  // namespace tessera::engine
