// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Reads and writes files at an offset, and keeps a bounded number of descriptors open for a list
/// of files of any length. No file is mapped into memory, because access to a mapped file that has
/// shrunk ends the process by a signal.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/data/byte_source.h"
#include "engine/files/descriptor.h"
#include "ptc/base/result.h"

namespace tessera::checkpoint {

/// An open file. The last reference closes it.
/// \threadsafety Any thread.
class File {
 public:
  enum class Mode : std::uint8_t { kRead, kCreate };  // kCreate: writable, created if missing

  /// \error kNotFound, kUnavailable with the text of errno; kInvalidArgument for what is not a
  ///     regular file
  static Result<std::shared_ptr<const File>> Open(const std::string& path, Mode mode);
  /// A file elsewhere, such as one behind a URL. It can only be read.
  static std::shared_ptr<const File> Over(engine::ByteSourcePtr source);
  const std::string& path() const { return path_; }
  Result<std::int64_t> Size() const;
  /// Fills all of `out` or fails.
  /// \error kUnavailable naming file, offset and why
  Status ReadAt(std::int64_t offset, std::span<std::byte> out) const;
  /// Reads the whole file.
  /// \param remedy what to do about a file that is too large
  /// \error kInvalidArgument `'PATH' has N bytes, the limit is LIMIT; REMEDY`; as ReadAt
  Result<std::string> ReadAll(std::int64_t limit, std::string_view remedy) const;
  /// Writes all of `bytes` or fails.
  /// \pre Open made this, and so for the next two
  /// \error kResourceExhausted (disk full), kUnavailable
  Status WriteAt(std::int64_t offset, std::span<const std::byte> bytes) const;
  Status Resize(std::int64_t size) const;
  /// Waits until content and size are on disk.
  Status Sync() const;

 private:
  File(std::string path, engine::Descriptor descriptor)
      : path_(std::move(path)), descriptor_(std::move(descriptor)) {}
  std::string path_;
  engine::Descriptor descriptor_;
  engine::ByteSourcePtr source_ = {};  // present: there is no descriptor
};
using FilePtr = std::shared_ptr<const File>;
using FileOpener = std::function<Result<FilePtr>(const std::string& path)>;
/// Opens files of this machine for reading.
Result<FilePtr> OpenLocal(const std::string& path);

/// Opens files when they are first needed and keeps at most `limit` of them open. The least
/// recently used one is closed first.
/// \threadsafety Any thread.
class OpenFiles {
 public:
  explicit OpenFiles(std::vector<std::string> paths, File::Mode mode = File::Mode::kRead,
                     std::size_t limit = 128);
  OpenFiles(std::vector<std::string> paths, FileOpener open, std::size_t limit = 128);
  /// \pre 0 <= index < number of paths
  Result<FilePtr> Get(int index) const;

 private:
  struct Held {
    FilePtr file;
    std::list<int>::iterator age;
  };
  const std::vector<std::string> paths_;
  const FileOpener open_;
  const std::size_t limit_;
  mutable std::mutex mutex_;
  mutable std::list<int> ages_;                 // most recently used first; guarded by mutex_
  mutable std::unordered_map<int, Held> held_;  // guarded by mutex_
};

/// "'PATH' WHAT: the text of errno". kNotFound, kResourceExhausted for a full disk, or
/// kUnavailable.
Error FileError(const std::string& path, std::string_view what, int error);

/// Syncs a folder, so that the names in it survive a loss of power.
Status SyncFolder(const std::string& path);

}  // namespace tessera::checkpoint
