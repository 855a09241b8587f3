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

}  // namespace

Error FileError(const std::string& path, std::string_view what, int error) {
  const ErrorCode code = error == ENOENT || error == ENOTDIR ? ErrorCode::kNotFound
                         : error == ENOSPC || error == EDQUOT || error == EFBIG
                             ? ErrorCode::kResourceExhausted
                             : ErrorCode::kUnavailable;
  return {code, fmt::format("'{}' {}: {}", path, what, ErrnoText(error)), {}};
}

Result<FilePtr> File::Open(const std::string& path, Mode mode) {
  const int flags = (mode == Mode::kRead ? O_RDONLY : O_RDWR) | O_CLOEXEC | O_NONBLOCK |
                    (mode == Mode::kCreate ? O_CREAT : 0);
  int fd = -1;
  do {
    fd = ::open(path.c_str(), flags, 0666);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) return FileError(path, "cannot be opened", errno);
  FilePtr file(new File(path, engine::Descriptor(fd)));
  struct stat status {};
  if (::fstat(fd, &status) != 0) return FileError(path, "cannot be examined", errno);
  if (!S_ISREG(status.st_mode))
    return InvalidArgument(fmt::format("'{}' is not a regular file", path));
  return file;
}

FilePtr File::Over(engine::ByteSourcePtr source) {
  const std::shared_ptr<File> file(new File(source->name(), engine::Descriptor()));
  file->source_ = std::move(source);
  return file;
}

Result<FilePtr> OpenLocal(const std::string& path) { return File::Open(path, File::Mode::kRead); }

Result<std::int64_t> File::Size() const {
  if (source_) return source_->size_bytes();
  struct stat status {};
  if (::fstat(descriptor_.get(), &status) != 0)
    return FileError(path_, "cannot be examined", errno);
  return static_cast<std::int64_t>(status.st_size);
}

Status File::ReadAt(std::int64_t offset, std::span<std::byte> out) const {
  if (source_) {
    const auto wanted = static_cast<std::int64_t>(out.size());
    if (offset <= source_->size_bytes() - wanted) return source_->ReadAt(offset, out);
    return Unavailable(fmt::format("'{}' has {} bytes, {} were expected at byte {}", path_,
                                   source_->size_bytes(), wanted, offset));
  }
  const auto got = descriptor_.ReadAt(offset, out);
  if (!got) {
    return Unavailable(
        fmt::format("'{}' cannot be read at byte {}: {}", path_, offset, ErrnoText(errno)));
  }
  if (*got == out.size()) return OkStatus();
  return Unavailable(fmt::format("'{}' ends at byte {}, where {} more bytes were expected", path_,
                                 offset + static_cast<std::int64_t>(*got), out.size() - *got));
}

Result<std::string> File::ReadAll(std::int64_t limit, std::string_view remedy) const {
  TESSERA_TRY(const std::int64_t size, Size());
  if (size > limit) {
    return InvalidArgument(
        fmt::format("'{}' has {} bytes, the limit is {}; {}", path_, size, limit, remedy));
  }
  std::string text(static_cast<std::size_t>(size), '\0');
  TESSERA_RETURN_IF_ERROR(ReadAt(0, std::as_writable_bytes(std::span(text))));
  return text;
}

Status File::WriteAt(std::int64_t offset, std::span<const std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t put = ::pwrite(descriptor_.get(), bytes.data(), bytes.size(), offset);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) {
      return FileError(path_, fmt::format("cannot be written at byte {}", offset),
                       put < 0 ? errno : ENOSPC);
    }
    offset += put;
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
  return OkStatus();
}

Status File::Resize(std::int64_t size) const {
  if (::ftruncate(descriptor_.get(), size) != 0) {
    return FileError(path_, fmt::format("cannot be given {} bytes", size), errno);
  }
  return OkStatus();
}

Status File::Sync() const {
  if (::fsync(descriptor_.get()) != 0) return FileError(path_, "cannot be synced", errno);
  return OkStatus();
}

OpenFiles::OpenFiles(std::vector<std::string> paths, File::Mode mode, std::size_t limit)
    : OpenFiles(
          std::move(paths), [mode](const std::string& path) { return File::Open(path, mode); },
          limit) {}

OpenFiles::OpenFiles(std::vector<std::string> paths, FileOpener open, std::size_t limit)
    : paths_(std::move(paths)), open_(std::move(open)), limit_(limit) {}

Result<FilePtr> OpenFiles::Get(int index) const {
  const std::lock_guard lock(mutex_);
  if (const auto found = held_.find(index); found != held_.end()) {
    ages_.splice(ages_.begin(), ages_, found->second.age);
    return found->second.file;
  }
  TESSERA_TRY(FilePtr file, open_(paths_[static_cast<std::size_t>(index)]));
  if (held_.size() >= limit_) {
    held_.erase(ages_.back());
    ages_.pop_back();
  }
  ages_.push_front(index);
  held_.emplace(index, Held{file, ages_.begin()});
  return file;
}

Status SyncFolder(const std::string& path) {
  const engine::Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.ok()) return FileError(path, "cannot be opened", errno);
  // Some file systems do not support fsync of folders.
  if (::fsync(folder.get()) != 0 && errno != EINVAL) {
    return FileError(path, "cannot be synced", errno);
  }
  return OkStatus();
}

}  // namespace tessera::checkpoint
