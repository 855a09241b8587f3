// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The bytes that a table is read from: a file or memory. A reader sees a window of them; its
/// errors name the byte of the whole file.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "engine/checkpoint/open_files.h"
#include "ptc/base/result.h"

namespace tessera::checkpoint {

/// Bytes that can be read at any offset. Immutable.
/// \threadsafety Any thread.
class ByteSource {
 public:
  /// \error as File::Open and File::Size
  static Result<std::shared_ptr<const ByteSource>> OpenFile(const std::string& path);
  static Result<std::shared_ptr<const ByteSource>> FromFile(FilePtr file);
  static std::shared_ptr<const ByteSource> FromMemory(std::string name, std::string bytes);
  virtual ~ByteSource() = default;

  /// The name for errors: the path of a file.
  const std::string& name() const { return name_; }
  std::int64_t size() const { return size_; }
  /// \pre 0 <= offset, offset + out.size() <= size()
  virtual Status Read(std::int64_t offset, std::span<std::byte> out) const = 0;

 protected:
  ByteSource(std::string name, std::int64_t size) : name_(std::move(name)), size_(size) {}

 private:
  std::string name_;
  std::int64_t size_;
};
using ByteSourcePtr = std::shared_ptr<const ByteSource>;

/// kInvalidArgument "NAME: byte N: message".
Error ErrorAt(std::string_view name, std::int64_t offset, std::string_view message);

/// The range [begin, begin + size) of a source. Offsets count from `begin`.
class ByteWindow {
 public:
  explicit ByteWindow(ByteSourcePtr source)
      : source_(std::move(source)), begin_(0), size_(source_->size()) {}
  /// \error kInvalidArgument "NAME: byte N: …" if the range is not inside the source
  static Result<ByteWindow> Make(ByteSourcePtr source, std::int64_t begin, std::int64_t size);

  const std::string& name() const { return source_->name(); }
  std::int64_t size() const { return size_; }
  /// The offset of the window in its source.
  std::int64_t begin() const { return begin_; }
  /// Reads the bytes [offset, offset + size). Allocates nothing if the range is outside the window.
  /// \error kInvalidArgument "NAME: byte N: WHAT of S bytes is cut short …"
  Result<std::string> Read(std::int64_t offset, std::int64_t size, std::string_view what) const;
  /// Returns ErrorAt for a byte of the window.
  Error At(std::int64_t offset, std::string_view message) const {
    return ErrorAt(name(), begin_ + offset, message);
  }

 private:
  ByteWindow(ByteSourcePtr source, std::int64_t begin, std::int64_t size)
      : source_(std::move(source)), begin_(begin), size_(size) {}
  ByteSourcePtr source_;
  std::int64_t begin_;
  std::int64_t size_;
};

}  // namespace tessera::checkpoint
