// SPDX-License-Identifier: Apache-2.0
#include "agents/node/log_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace tessera::agents {

Result<LogFile> LogFile::Redirect(std::string path, std::int64_t max_bytes) {
  LogFile log(std::move(path), max_bytes);
  TESSERA_RETURN_IF_ERROR(log.Open());
  return log;
}

Status LogFile::Open() {
  const int fd = ::open(path_.c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0) {
    return Unavailable(fmt::format("cannot write log {}: {}", path_, std::strerror(errno)));
  }
  std::fflush(nullptr);
  const bool moved = ::dup2(fd, STDOUT_FILENO) >= 0 && ::dup2(fd, STDERR_FILENO) >= 0;
  const int error = errno;
  ::close(fd);
  if (!moved)
    return Unavailable(fmt::format("cannot write log {}: {}", path_, std::strerror(error)));
  return OkStatus();
}

Status LogFile::RotateIfFull() {
  struct stat info {};
  const bool gone = ::stat(path_.c_str(), &info) != 0;  // removed or moved by another process
  if (!gone && info.st_size < max_bytes_) return OkStatus();
  const auto name = [this](int age) { return age == 0 ? path_ : fmt::format("{}.{}", path_, age); };
  for (int age = kFiles - 1; !gone && age > 0; --age) {
    // A missing file is not an error.
    if (std::rename(name(age - 1).c_str(), name(age).c_str()) != 0 && errno != ENOENT) {
      return Unavailable(fmt::format("cannot rename {}: {}", name(age - 1), std::strerror(errno)));
    }
  }
  return Open();
}

}  // namespace tessera::agents
