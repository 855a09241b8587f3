// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Files by descriptor: reads and writes at an offset, and a bounded set of descriptors over a
/// list of files of any length. Nothing is mapped: a mapped file that shrinks would end the
/// process.

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "ptc/base/result.h"

namespace tessera::checkpoint {

/// One open file; closed with the last reference. Any thread may use it.
class File {
 public:
  enum class Mode : std::uint8_t { kRead, kCreate };  // kCreate: written, made where missing

  /// \error kNotFound, kUnavailable with errno's text; kInvalidArgument if it is no regular file
  static Result<std::shared_ptr<const File>> Open(const std::string& path, Mode mode);
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  const std::string& path() const { return path_; }
  Result<std::int64_t> Size() const;
  /// Fills all of `out` or fails. \error kUnavailable naming file, offset and why
  Status ReadAt(std::int64_t offset, std::span<std::byte> out) const;
  /// Writes all of `bytes` or fails. \error kResourceExhausted (disk full), kUnavailable
  Status WriteAt(std::int64_t offset, std::span<const std::byte> bytes) const;
  Status Resize(std::int64_t size) const;
  /// Waits until content and size are on the medium.
  Status Sync() const;

 private:
  File(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  std::string path_;
  int fd_;
};
using FilePtr = std::shared_ptr<const File>;

/// Files opened when they are first needed, of which at most `limit` stay open: the one that was
/// not asked for the longest is closed first. Any thread may use it.
class OpenFiles {
 public:
  explicit OpenFiles(std::vector<std::string> paths, File::Mode mode = File::Mode::kRead,
                     std::size_t limit = 128);
  /// \pre 0 <= index < number of paths
  Result<FilePtr> Get(int index) const;

 private:
  struct Held {
    FilePtr file;
    std::list<int>::iterator age;
  };
  const std::vector<std::string> paths_;
  const File::Mode mode_;
  const std::size_t limit_;
  mutable std::mutex mutex_;
  mutable std::list<int> ages_;                 // youngest first; guarded by mutex_
  mutable std::unordered_map<int, Held> held_;  // guarded by mutex_
};

/// Makes the names in a folder last: fsync of the folder.
Status SyncFolder(const std::string& path);

}  // namespace tessera::checkpoint
