// SPDX-License-Identifier: Apache-2.0
#include "engine/files/whole_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "engine/files/descriptor.h"

namespace tessera::engine {
namespace {

Error CannotRead(const std::string& path, int number) {
  const std::string text = fmt::format("cannot read '{}': {}", path, std::strerror(number));
  const bool missing = number == ENOENT || number == ENOTDIR || number == ESRCH;
  return missing ? NotFound(text) : Unavailable(text);
}

Error CannotWrite(const std::string& path, int number) {
  const std::string text = fmt::format("cannot write '{}': {}", path, std::strerror(number));
  const bool full = number == ENOSPC || number == EDQUOT;
  return full ? ResourceExhausted(text) : Unavailable(text);
}

/// Writes and syncs all of `text`.
/// \return 0, or an errno
int WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return ::fsync(fd) == 0 ? 0 : errno;
}

struct Temporary {
  Descriptor file;
  std::string path;
};

/// Creates a file beside `path` with a random name. Hosts may share the folder, and process and
/// thread numbers are not unique among them.
Result<Temporary> MakeTemporary(const std::string& path, mode_t mode) {
  constexpr int kMostTries = 16;
  for (int i = 0; i < kMostTries; ++i) {
    std::uint64_t number = 0;
    if (::getrandom(&number, sizeof(number), 0) != static_cast<ssize_t>(sizeof(number))) {
      return CannotWrite(path, errno);
    }
    std::string name = fmt::format("{}.{:016x}.new", path, number);
    Descriptor file(::open(name.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, mode));
    if (file.ok()) return Temporary{std::move(file), std::move(name)};
    if (errno != EEXIST) break;
  }
  return CannotWrite(path, errno);
}

}  // namespace

Result<std::string> ReadWholeFile(const std::string& path, std::int64_t max_bytes) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return CannotRead(path, errno);
  // The size that fstat reports for files of /proc is 0, so the file is read to its end.
  constexpr std::size_t kFirst = 4096;
  std::string text;
  std::size_t size = 0;
  for (;;) {
    if (size == text.size()) text.resize(std::max(kFirst, 2 * size));
    const ssize_t got = ::read(file.get(), text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return CannotRead(path, errno);
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
    if (static_cast<std::int64_t>(size) > max_bytes) {
      return ResourceExhausted(
          fmt::format("cannot read '{}': it has more than {} bytes", path, max_bytes));
    }
  }
  text.resize(size);
  return text;
}

Status WriteWholeFile(const std::string& path, std::string_view text, mode_t mode) {
  TESSERA_TRY(const Temporary fresh, MakeTemporary(path, mode));
  int failure = WriteAll(fresh.file.get(), text);
  if (failure == 0 && ::rename(fresh.path.c_str(), path.c_str()) != 0) failure = errno;
  if (failure == 0) return OkStatus();
  ::unlink(fresh.path.c_str());
  return CannotWrite(path, failure);
}

}  // namespace tessera::engine
