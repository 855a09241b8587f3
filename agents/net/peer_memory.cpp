// SPDX-License-Identifier: Apache-2.0
#include "agents/net/peer_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace tessera::agents {
namespace {

// "process 4711 (/proc/4711/fd/9)", or the path alone where it names no process.
std::string NameOf(const std::string& path) {
  constexpr std::string_view kProc = "/proc/";
  if (path.starts_with(kProc)) {
    const std::size_t end = path.find('/', kProc.size());
    const std::string pid = path.substr(kProc.size(), end - kProc.size());
    if (!pid.empty() && pid.find_first_not_of("0123456789") == std::string::npos) {
      return "process " + pid + " (" + path + ")";
    }
  }
  return path;
}

Error CannotMap(const std::string& path, int error) {
  std::string text = "cannot map memory of " + NameOf(path) + ": " + std::strerror(error);
  if (error == ENOENT || error == ESRCH) return NotFound(std::move(text));
  return FailedPrecondition(std::move(text));
}

}  // namespace

Result<PeerMemory> PeerMemory::Map(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return CannotMap(path, errno);
  struct stat info {};
  void* data = MAP_FAILED;
  int error = 0;
  if (::fstat(fd, &info) != 0) {
    error = errno;
  } else if (!S_ISREG(info.st_mode) || info.st_size == 0) {
    error = EINVAL;
  } else {
    data = ::mmap(nullptr, static_cast<std::size_t>(info.st_size), PROT_READ, MAP_SHARED, fd, 0);
    if (data == MAP_FAILED) error = errno;
  }
  ::close(fd);
  if (error != 0) return CannotMap(path, error);
  return PeerMemory({static_cast<const std::byte*>(data), static_cast<std::size_t>(info.st_size)});
}

Result<PeerMemory> PeerMemory::Map(std::int64_t pid, int fd) {
  return Map("/proc/" + std::to_string(pid) + "/fd/" + std::to_string(fd));
}

PeerMemory::PeerMemory(PeerMemory&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

PeerMemory& PeerMemory::operator=(PeerMemory&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

PeerMemory::~PeerMemory() {
  if (bytes_.empty()) return;
  ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace tessera::agents
