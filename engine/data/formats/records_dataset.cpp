// SPDX-License-Identifier: Apache-2.0
#include "engine/data/formats/records_dataset.h"

#include <fmt/format.h>

#include <utility>

#include "engine/data/formats/record_limits.h"
#include "ptc/base/check.h"
#include "ptc/digest.h"

namespace tessera::engine {

Status CheckRecords(const RecordIndex& index, std::span<const ByteSourcePtr> files,
                    std::int64_t sequence) {
  if (sequence < 1) {
    return InvalidArgument(fmt::format("sequence length {} is below 1", sequence));
  }
  if (index.num_entries() > 0) return OkStatus();
  return InvalidArgument(fmt::format("data set '{}' ({} files) holds no records",
                                     files.empty() ? "" : files.front()->name(), files.size()));
}

std::uint64_t RecordsFingerprint(DataFormat format, std::int64_t sequence,
                                 const RecordIndex& index) {
  return ptc::Mix(ptc::Mix(index.checksum() + static_cast<std::uint64_t>(format)) +
                  static_cast<std::uint64_t>(sequence));
}

RecordsDataset::RecordsDataset(std::vector<ByteSourcePtr> files, std::int64_t sequence,
                               RecordIndexPtr index, std::string_view word)
    : files_(std::move(files)), sequence_(sequence), index_(std::move(index)), word_(word) {
  const auto tokens = static_cast<std::uint64_t>(sequence_ + 1);
  for (std::int64_t i = 0; i < index_->num_entries(); ++i) {
    const std::uint64_t text_bytes = index_->entry(i).back();
    if (text_bytes > tokens) ++fit_.cut;
    if (text_bytes < tokens) ++fit_.padded;
  }
}

std::uint64_t RecordsDataset::fingerprint() const {
  return RecordsFingerprint(format(), sequence_, *index_);
}

std::string RecordsDataset::Describe(std::int64_t sample) const {
  const std::size_t file = index_->file_of(sample);
  return fmt::format("{} {} {} at byte {}", files_[file]->name(), word_,
                     sample - index_->first_of(file), index_->entry(sample)[0]);
}

RecordsDataset::RecordLocation RecordsDataset::LocationOf(std::int64_t sample) const {
  TESSERA_CHECK(0 <= sample && sample < num_samples());
  return {*files_[index_->file_of(sample)], index_->entry(sample)};
}

}  // namespace tessera::engine
