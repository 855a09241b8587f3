// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Bytes that are read by range, wherever they lie: the one thing that data formats read from.

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
  /// As it was asked for: a path, or a URL without what may be secret in it.
  virtual const std::string& name() const = 0;
  virtual std::int64_t size_bytes() const = 0;
  /// Changes when the content does, as far as the place can tell without reading it: size and time
  /// of change of a file, size and ETag of a URL.
  virtual std::string version() const = 0;
  /// Fills `out` from `offset`.
  /// \pre 0 <= offset, offset + out.size() <= size_bytes()
  /// \error kDataLoss naming source and offset where the source changed since it was opened, ended
  ///     early, or failed a check; kUnavailable where it cannot be reached now.
  virtual Status ReadAt(std::int64_t offset, std::span<std::byte> out) const = 0;
};
using ByteSourcePtr = std::shared_ptr<const ByteSource>;

/// Opens names of one kind of place.
/// \threadsafety Any thread.
class SourceOpener {
 public:
  virtual ~SourceOpener() = default;
  /// Whether `name` is one of this place's: "https://…".
  virtual bool Knows(const std::string& name) const = 0;
  /// \error kNotFound `data path '/x' does not exist`; kUnavailable naming the source
  virtual Result<ByteSourcePtr> Open(const std::string& name) const = 0;
  /// The files that `name` stands for: itself, or, of a folder, what is in it, in byte order.
  /// \error as Open
  virtual Result<std::vector<std::string>> List(const std::string& name) const = 0;
};

}  // namespace tessera::engine
