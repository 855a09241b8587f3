// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Text files as one long string of bytes, cut into samples. A byte is a token.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/data/byte_source.h"
#include "engine/data/dataset.h"
#include "engine/data/index_file.h"
#include "ptc/base/result.h"

namespace tessera::engine {

/// Returns paths of text that most machines have: the licences in /usr/share/common-licenses and
/// the sources of the Python standard library. Only paths that exist, in a fixed order.
std::vector<std::string> DefaultTextPaths();

/// Opens the text files that `path` stands for. A file is used whatever it holds. In a folder,
/// every file that the opener lists is used, except files with a NUL among their first 4096 bytes.
/// A file that cannot be read is an error and is not left out, because ranks that leave out
/// different files would train on different data.
/// \error as SourceOpener::Open and ByteSource::ReadAt, naming the file
Result<std::vector<ByteSourcePtr>> OpenTextFiles(const std::string& path,
                                                 const SourceOpener& opener);
/// Whether there is no NUL among the first 4096 bytes: git's definition of text.
/// \error as ByteSource::ReadAt
Result<bool> LooksLikeText(const ByteSource& source);

/// Files in a fixed order as one string. Sample i is the window of `sequence` + 1 bytes that begins
/// at byte i * sequence: the inputs and, shifted by one, the targets.
///
/// Only names and sizes are held in memory. A sample is read on demand.
/// \threadsafety Immutable; reads may run on several threads.
class TextDataset final : public Dataset {
 public:
  /// Opens local files and folders.
  /// \error kNotFound `data path '/x' does not exist`
  /// \error kInvalidArgument `data set has 12 bytes, a sample needs 129`; sequence < 1
  static Result<TextDataset> Open(const std::vector<std::string>& paths, std::int64_t sequence);
  /// Reads the content for the fingerprint, unless `options` name a folder in which the hashes of
  /// these files are kept from before.
  /// \error kInvalidArgument as Open; as OpenIndex
  static Result<TextDataset> Make(std::vector<ByteSourcePtr> files, std::int64_t sequence,
                                  const IndexOptions& options = {});

  DataFormat format() const override { return DataFormat::kText; }
  std::int64_t sequence() const override { return sequence_; }
  std::int64_t num_files() const { return static_cast<std::int64_t>(files_.size()); }
  std::int64_t size_bytes() const { return size_bytes_; }
  std::int64_t num_samples() const override { return (size_bytes_ - 1) / sequence_; }
  /// Equal for files of equal sizes and content in equal order. Up to 16 MiB of text are hashed
  /// whole. Of longer text, the first 256 KiB of each file are hashed, and then blocks of 256 KiB
  /// at equal distances: 64 blocks in all if the files are large.
  std::uint64_t fingerprint() const override { return fingerprint_; }
  /// Reads the sequence() + 1 bytes of `sample`.
  /// \pre 0 <= sample < num_samples(), out.size() == sequence() + 1
  /// \error kDataLoss if a file is gone or has changed since it was opened.
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
  std::uint64_t fingerprint_ = 0;
};

}  // namespace tessera::engine
