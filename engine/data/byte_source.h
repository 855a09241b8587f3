// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Sources of bytes that are read by range, local or remote. All data formats read through them.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ptc/base/result.h"

namespace tessera::engine {

/// One file of a data set.
/// \threadsafety ReadAt may run on several threads.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// The path, or the URL without parts that may be secret.
  virtual const std::string& name() const = 0;
  virtual std::int64_t size_bytes() const = 0;
  /// Changes when the content changes, as far as can be found without reading it: from size and
  /// time of change of a file, size and ETag of a URL.
  virtual std::string version() const = 0;
  /// Fills `out` from `offset`.
  /// \pre 0 <= offset, offset + out.size() <= size_bytes()
  /// \error kDataLoss naming source and offset if the source has changed since it was opened, ends
  ///     early, or fails a check; kUnavailable if it cannot be reached now
  virtual Status ReadAt(std::int64_t offset, std::span<std::byte> out) const = 0;
};
using ByteSourcePtr = std::shared_ptr<const ByteSource>;

/// Opens sources of one kind, such as local files or URLs.
class SourceOpener {
 public:
  virtual ~SourceOpener() = default;
  /// Whether this opener handles `name`, for example "https://…".
  virtual bool Knows(const std::string& name) const = 0;
  /// \error kNotFound `data path '/x' does not exist`; kUnavailable naming the source
  virtual Result<ByteSourcePtr> Open(const std::string& name) const = 0;
  /// Returns the files that `name` stands for: itself, or all files of a folder in byte order.
  /// \error as Open
  virtual Result<std::vector<std::string>> List(const std::string& name) const = 0;
};

}  // namespace tessera::engine
