// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What data sets of whole records in files have in common.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/data/dataset.h"
#include "engine/data/index_file.h"

namespace tessera::engine {

/// An entry of the index begins with the offset and the size of a record in its file. Its last word
/// is the size of the text of the record.
class RecordsDataset : public Dataset {
 public:
  std::int64_t sequence() const final { return sequence_; }
  std::int64_t num_samples() const final { return index_->num_entries(); }
  std::uint64_t fingerprint() const final;
  RecordFit fit() const final { return fit_; }
  std::string Describe(std::int64_t sample) const final;

 protected:
  /// \param word what a sample is called: "record"
  RecordsDataset(std::vector<ByteSourcePtr> files, std::int64_t sequence, RecordIndexPtr index,
                 std::string_view word);

  struct RecordLocation {
    const ByteSource& file;
    std::span<const std::uint64_t> entry;
    std::int64_t offset() const { return static_cast<std::int64_t>(entry[0]); }
    std::int64_t size() const { return static_cast<std::int64_t>(entry[1]); }
  };
  /// \pre 0 <= sample < num_samples()
  RecordLocation LocationOf(std::int64_t sample) const;

 private:
  const std::vector<ByteSourcePtr> files_;
  const std::int64_t sequence_;
  const RecordIndexPtr index_;
  const std::string_view word_;
  RecordFit fit_;
};

}  // namespace tessera::engine
