// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Text files as one long string of bytes, a byte a token, cut into samples.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ptc/base/result.h"

namespace tessera::engine {

/// Text that is found on most machines: the licences in /usr/share/common-licenses and the Python
/// standard library's sources. Only paths that exist, in a fixed order.
std::vector<std::string> DefaultTextPaths();

/// Files in a fixed order with their sizes. Sample i is the window of `sequence` + 1 bytes that
/// begins at byte i * sequence: inputs and, one further, targets.
///
/// A file path is taken as it is. Under a folder path every regular file counts, in byte order of
/// paths, without following symbolic links, except hidden names, __pycache__, site-packages,
/// dist-packages and files with a NUL among their first 4096 bytes.
///
/// Nothing is kept in memory but names and sizes: a sample is read when it is asked for.
/// \threadsafety Immutable; Read may run on several threads.
class TextDataset {
 public:
  /// \error kNotFound `data path '/x' does not exist`
  /// \error kInvalidArgument `data set has 12 bytes, a sample needs 129`; sequence < 1
  static Result<TextDataset> Open(const std::vector<std::string>& paths, std::int64_t sequence);

  std::int64_t sequence() const { return sequence_; }
  std::int64_t num_files() const { return static_cast<std::int64_t>(files_.size()); }
  std::int64_t size_bytes() const { return size_bytes_; }
  std::int64_t num_samples() const { return (size_bytes_ - 1) / sequence_; }
  /// Equal for equal file sizes in equal order; ranks compare it before they train together.
  std::uint64_t fingerprint() const;
  /// Reads the sequence() + 1 bytes of `sample`.
  /// \pre 0 <= sample < num_samples(), out.size() == sequence() + 1
  /// \error kDataLoss if a file is gone or shorter than when it was opened.
  Status Read(std::int64_t sample, std::span<std::uint8_t> out) const;

 private:
  struct File {
    std::string path;
    std::int64_t begin = 0;  // of its first byte in the whole string
    std::int64_t size_bytes = 0;
  };
  TextDataset() = default;

  std::vector<File> files_;  // none is empty
  std::int64_t size_bytes_ = 0;
  std::int64_t sequence_ = 1;
};

}  // namespace tessera::engine
