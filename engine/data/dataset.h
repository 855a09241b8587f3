// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A data set of one format: numbered samples, as tokens for the trainer and as records for other
/// readers.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ptc/base/result.h"

namespace tessera::engine {

enum class DataFormat : std::uint8_t { kText, kMegatron, kTfRecord, kTar };
std::string_view ToString(DataFormat format);  // "text", "megatron", "tfrecord", "tar"

enum class TokenType : std::uint8_t;  // formats/megatron_index.h

/// The numbers of records whose text is longer or shorter than a sample.
struct RecordFit {
  std::int64_t cut = 0;     // longer: the rest is never read
  std::int64_t padded = 0;  // shorter: filled up with token 0
  friend bool operator==(const RecordFit&, const RecordFit&) = default;
};

/// Only an index is held in memory; a large one is mapped.
/// \threadsafety Immutable; all calls from any thread.
class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual DataFormat format() const = 0;
  /// The input tokens of a sample; one more token is read as the last target.
  virtual std::int64_t sequence() const = 0;
  virtual std::int64_t num_samples() const = 0;  // >= 1
  /// Equal for equal content in equal order, as far as that is known without reading all of it.
  /// Ranks compare it before they train together.
  virtual std::uint64_t fingerprint() const = 0;
  /// Reads the token ids of `sample`. In text and records a byte is a token. A record that is
  /// longer than a sample is cut, a shorter one is filled up with token 0; fit() counts both.
  /// \pre 0 <= sample < num_samples(), out.size() == sequence() + 1
  /// \error kDataLoss naming file and offset if the bytes read fail a check (CRC, size, index)
  virtual Status ReadTokens(std::int64_t sample, std::span<std::int32_t> out) const = 0;
  /// Reads `sample` whole, in the record format of the data set: text as its window of bytes,
  /// Megatron as its window of tokens in the file's dtype, TFRecord as one framed record, tar as
  /// the members of the sample with their headers, padded to blocks. Records one after the other
  /// are a file of the format (Megatron: the .bin; tar: without its two closing blocks).
  /// \pre, \error as ReadTokens
  virtual Result<std::vector<std::byte>> ReadRecord(std::int64_t sample) const = 0;
  /// Returns the size of what ReadRecord returns, without reading it. It may be above the limit of
  /// ReadRecord.
  /// \pre as ReadTokens
  virtual std::int64_t RecordBytes(std::int64_t sample) const = 0;
  /// Of the formats whose samples are records; zeros for text and Megatron, whose samples are
  /// windows.
  virtual RecordFit fit() const { return {}; }
  /// The token type of Megatron's records; nullopt for other formats.
  virtual std::optional<TokenType> token_type() const { return std::nullopt; }
  /// Describes the location of `sample` for messages: "web/0003.tar member 17 at byte 81920".
  virtual std::string Describe(std::int64_t sample) const = 0;
};
using DatasetPtr = std::shared_ptr<const Dataset>;

}  // namespace tessera::engine
