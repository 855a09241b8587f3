// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Text files as one long string of bytes, a byte a token, cut into samples.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/data/byte_source.h"
#include "engine/data/dataset.h"
#include "ptc/base/result.h"

namespace tessera::engine {

/// Text that is found on most machines: the licences in /usr/share/common-licenses and the Python
/// standard library's sources. Only paths that exist, in a fixed order.
std::vector<std::string> DefaultTextPaths();

/// The text files that `path` stands for, opened. A file path is taken as it is, whatever it holds.
/// Under a folder path every file that the opener lists counts, except those with a NUL among their
/// first 4096 bytes and those that cannot be read.
/// \error as SourceOpener::Open
Result<std::vector<ByteSourcePtr>> OpenTextFiles(const std::string& path,
                                                 const SourceOpener& opener);
/// No NUL among the first 4096 bytes: what git takes for text. \error as ByteSource::ReadAt
Result<bool> LooksLikeText(const ByteSource& source);

/// Files in a fixed order as one string. Sample i is the window of `sequence` + 1 bytes that begins
/// at byte i * sequence: inputs and, one further, targets.
///
/// Nothing is kept in memory but names and sizes: a sample is read when it is asked for.
/// \threadsafety Immutable; reads may run on several threads.
class TextDataset final : public Dataset {
 public:
  /// Local files and folders.
  /// \error kNotFound `data path '/x' does not exist`
  /// \error kInvalidArgument `data set has 12 bytes, a sample needs 129`; sequence < 1
  static Result<TextDataset> Open(const std::vector<std::string>& paths, std::int64_t sequence);
  /// \error kInvalidArgument as Open
  static Result<TextDataset> Make(std::vector<ByteSourcePtr> files, std::int64_t sequence);

  DataFormat format() const override { return DataFormat::kText; }
  std::int64_t sequence() const override { return sequence_; }
  std::int64_t num_files() const { return static_cast<std::int64_t>(files_.size()); }
  std::int64_t size_bytes() const { return size_bytes_; }
  std::int64_t num_samples() const override { return (size_bytes_ - 1) / sequence_; }
  /// Equal for equal file sizes in equal order.
  std::uint64_t fingerprint() const override;
  /// Reads the sequence() + 1 bytes of `sample`.
  /// \pre 0 <= sample < num_samples(), out.size() == sequence() + 1
  /// \error kDataLoss if a file is gone or not what it was when it was opened.
  Status Read(std::int64_t sample, std::span<std::uint8_t> out) const;
  Status ReadTokens(std::int64_t sample, std::span<std::int32_t> out) const override;
  Result<std::vector<std::byte>> ReadRecord(std::int64_t sample) const override;
  std::int64_t RecordBytes(std::int64_t /*sample*/) const override { return sequence_ + 1; }
  std::string Describe(std::int64_t sample) const override;

 private:
  struct File {
    ByteSourcePtr source;
    std::int64_t begin = 0;  // of its first byte in the whole string
  };
  TextDataset() = default;
  std::vector<File>::const_iterator FileAt(std::int64_t position) const;

  std::vector<File> files_;  // none is empty
  std::int64_t size_bytes_ = 0;
  std::int64_t sequence_ = 1;
};

}  // namespace tessera::engine
