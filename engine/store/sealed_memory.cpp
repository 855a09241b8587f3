// SPDX-License-Identifier: Apache-2.0
#include "engine/store/sealed_memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

namespace tessera::engine {
namespace {

/// Between two looks at the stop token.
constexpr std::size_t kTouchChunkBytes = std::size_t{64} << 20U;
constexpr std::size_t kSmallPageBytes = 4096;
constexpr std::size_t kMostThreads = 4;

/// Faults in every page of a chunk.
/// \return 0 or the errno value
int TouchChunk(std::span<std::byte> bytes) {
  // Advice only: shared memory that gets no huge pages works with small ones.
  madvise(bytes.data(), bytes.size(), MADV_HUGEPAGE);
#ifdef MADV_POPULATE_WRITE
  if (madvise(bytes.data(), bytes.size(), MADV_POPULATE_WRITE) == 0) return 0;
  if (errno != EINVAL) return errno;  // EINVAL: a kernel before 5.14
#endif
  for (std::size_t at = 0; at < bytes.size(); at += kSmallPageBytes) {
    static_cast<volatile std::byte*>(bytes.data())[at] = std::byte{0};
  }
  return 0;
}

/// Allocates the pages of a chunk without touching them.
/// \return 0 or the errno value
int AllocateChunk(int fd, std::size_t offset, std::size_t size) {
  while (fallocate(fd, 0, static_cast<off_t>(offset), static_cast<off_t>(size)) != 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

/// On several threads, because the kernel clears and accounts page by page.
/// \return 0, the errno value, or ECANCELED once a stop is requested
int MakePages(const SealedMemory& memory, const SealedMemoryOptions& options) {
  std::atomic<std::size_t> next = 0;
  std::atomic<int> failed = 0;
  std::mutex one_at_a_time;
  const auto run = [&] {
    for (;;) {
      const std::size_t at = next.fetch_add(kTouchChunkBytes);
      if (at >= memory.bytes.size() || failed != 0) return;
      const std::size_t size = std::min(kTouchChunkBytes, memory.bytes.size() - at);
      int error = options.touch ? EOPNOTSUPP : AllocateChunk(memory.fd, at, size);
      if (error == EOPNOTSUPP) error = TouchChunk(memory.bytes.subspan(at, size));
      if (options.stop.stop_requested()) error = ECANCELED;
      if (error != 0) {
        failed = error;
        return;
      }
      const std::lock_guard lock(one_at_a_time);
      if (options.made) options.made(static_cast<std::int64_t>(size));
    }
  };
  const std::size_t chunks = memory.bytes.size() / kTouchChunkBytes;
  const std::size_t threads =
      std::min({chunks, kMostThreads, std::size_t{std::thread::hardware_concurrency()}});
  std::vector<std::jthread> others;
  try {
    for (std::size_t t = 1; t < threads; ++t) others.emplace_back(run);
  } catch (const std::system_error&) {
    // No more threads can be had: those that run make all of it.
  }
  run();
  others.clear();
  return failed;
}

}  // namespace

Result<SealedMemory> MakeSealedMemory(const std::string& name, std::int64_t bytes,
                                      const SealedMemoryOptions& options) {
  const auto size = static_cast<std::size_t>(bytes);
  SealedMemory memory;
  const auto failed = [&](ErrorCode code, std::string_view what, int error) -> Error {
    if (!memory.bytes.empty()) munmap(memory.bytes.data(), size);
    if (memory.fd >= 0) close(memory.fd);
    return {code,
            fmt::format("memory '{}' of {} bytes: {}: {}", name, bytes, what,
                        std::strerror(error)),  // NOLINT(concurrency-mt-unsafe)
            {}};
  };
  memory.fd = memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (memory.fd < 0) return failed(ErrorCode::kUnavailable, "memfd_create", errno);
  if (ftruncate(memory.fd, bytes) != 0) {
    return failed(ErrorCode::kResourceExhausted, "cannot set the size", errno);
  }
  if (fcntl(memory.fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0) {
    return failed(ErrorCode::kUnavailable, "cannot seal the size", errno);
  }
  void* address = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, memory.fd, 0);
  if (address == MAP_FAILED) return failed(ErrorCode::kResourceExhausted, "cannot map", errno);
  memory.bytes = {static_cast<std::byte*>(address), size};
  if (const int error = MakePages(memory, options); error != 0) {
    if (error == ECANCELED) return failed(ErrorCode::kCancelled, "stopped", error);
    return failed(ErrorCode::kResourceExhausted, "the machine has too little memory", error);
  }
  return memory;
}

namespace {

/// Whether `path` is /proc/PID/fd/N: such a path leads to a descriptor of a process and never waits
/// for a network file system or a device.
bool IsDescriptorPath(std::string_view path) {
  const auto takes = [&path](std::string_view text) {
    if (!path.starts_with(text)) return false;
    path.remove_prefix(text.size());
    return true;
  };
  const auto takes_number = [&path] {
    const std::size_t digits = std::min(path.find_first_not_of("0123456789"), path.size());
    path.remove_prefix(digits);
    return digits > 0;
  };
  return takes("/proc/") && takes_number() && takes("/fd/") && takes_number() && path.empty();
}

}  // namespace

Result<int> OpenSealedMemory(const std::string& path) {
  if (!IsDescriptorPath(path)) {
    return InvalidArgument(fmt::format("memory '{}' is not a descriptor /proc/PID/fd/N", path));
  }
  // O_PATH opens nothing behind the path, so that a file of a file system that hangs, a pipe or a
  // device does not block.
  const int there = open(path.c_str(), O_PATH | O_CLOEXEC);
  if (there < 0) {
    return Unavailable(fmt::format("cannot open '{}': {}", path, std::strerror(errno)));
  }
  struct statfs system {};
  const bool is_memory = fstatfs(there, &system) == 0 &&
                         (system.f_type == TMPFS_MAGIC || system.f_type == HUGETLBFS_MAGIC);
  const int fd = is_memory ? open(fmt::format("/proc/self/fd/{}", there).c_str(),
                                  O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
                           : -1;
  const int error = errno;
  close(there);
  if (!is_memory) return InvalidArgument(fmt::format("'{}' is not sealed memory", path));
  if (fd < 0) return Unavailable(fmt::format("cannot open '{}': {}", path, std::strerror(error)));
  // Only memory files have seals, and without this one its owner could cut a mapping short.
  const int seals = fcntl(fd, F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0) {
    close(fd);
    return InvalidArgument(fmt::format("'{}' is not sealed memory", path));
  }
  return fd;
}

}  // namespace tessera::engine
