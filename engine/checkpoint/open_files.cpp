// SPDX-License-Identifier: Apache-2.0
#include "engine/checkpoint/open_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace tessera::checkpoint {
namespace {

std::string ErrnoText(int error) { return std::generic_category().message(error); }

Error Failed(const std::string& path, std::string_view what, int error) {
  const ErrorCode code = error == ENOENT || error == ENOTDIR ? ErrorCode::kNotFound
                         : error == ENOSPC || error == EDQUOT || error == EFBIG
                             ? ErrorCode::kResourceExhausted
                             : ErrorCode::kUnavailable;
  return {code, fmt::format("'{}' {}: {}", path, what, ErrnoText(error)), {}};
}

}  // namespace

Result<FilePtr> File::Open(const std::string& path, Mode mode) {
  const int flags = (mode == Mode::kRead ? O_RDONLY : O_RDWR) | O_CLOEXEC | O_NONBLOCK |
                    (mode == Mode::kCreate ? O_CREAT : 0);
  int fd = -1;
  do {
    fd = ::open(path.c_str(), flags, 0666);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) return Failed(path, "cannot be opened", errno);
  FilePtr file(new File(path, fd));
  struct stat status {};
  if (::fstat(fd, &status) != 0) return Failed(path, "cannot be examined", errno);
  if (!S_ISREG(status.st_mode)) return InvalidArgument(fmt::format("'{}' is no file", path));
  return file;
}

File::~File() { ::close(fd_); }

Result<std::int64_t> File::Size() const {
  struct stat status {};
  if (::fstat(fd_, &status) != 0) return Failed(path_, "cannot be examined", errno);
  return static_cast<std::int64_t>(status.st_size);
}

Status File::ReadAt(std::int64_t offset, std::span<std::byte> out) const {
  while (!out.empty()) {
    const ssize_t got = ::pread(fd_, out.data(), out.size(), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      return Unavailable(
          fmt::format("'{}' cannot be read at byte {}: {}", path_, offset, ErrnoText(errno)));
    }
    if (got == 0) {
      return Unavailable(fmt::format("'{}' ends at byte {}, where {} more bytes were expected",
                                     path_, offset, out.size()));
    }
    offset += got;
    out = out.subspan(static_cast<std::size_t>(got));
  }
  return OkStatus();
}

Status File::WriteAt(std::int64_t offset, std::span<const std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t put = ::pwrite(fd_, bytes.data(), bytes.size(), offset);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) {
      return Failed(path_, fmt::format("cannot be written at byte {}", offset),
                    put < 0 ? errno : ENOSPC);
    }
    offset += put;
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
  return OkStatus();
}

Status File::Resize(std::int64_t size) const {
  if (::ftruncate(fd_, size) != 0) {
    return Failed(path_, fmt::format("cannot be given {} bytes", size), errno);
  }
  return OkStatus();
}

Status File::Sync() const {
  if (::fsync(fd_) != 0) return Failed(path_, "cannot be brought to the disk", errno);
  return OkStatus();
}

OpenFiles::OpenFiles(std::vector<std::string> paths, File::Mode mode, std::size_t limit)
    : paths_(std::move(paths)), mode_(mode), limit_(limit) {}

Result<FilePtr> OpenFiles::Get(int index) const {
  const std::lock_guard lock(mutex_);
  if (const auto found = held_.find(index); found != held_.end()) {
    ages_.splice(ages_.begin(), ages_, found->second.age);
    return found->second.file;
  }
  TESSERA_TRY(FilePtr file, File::Open(paths_[static_cast<std::size_t>(index)], mode_));
  if (held_.size() >= limit_) {
    held_.erase(ages_.back());
    ages_.pop_back();
  }
  ages_.push_front(index);
  held_.emplace(index, Held{file, ages_.begin()});
  return file;
}

Status SyncFolder(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return Failed(path, "cannot be opened", errno);
  const int result = ::fsync(fd);
  const int error = errno;
  ::close(fd);
  // Some file systems know no fsync of folders.
  if (result != 0 && error != EINVAL) return Failed(path, "cannot be brought to the disk", error);
  return OkStatus();
}

}  // namespace tessera::checkpoint
