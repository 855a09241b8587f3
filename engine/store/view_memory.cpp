// SPDX-License-Identifier: Apache-2.0
#include "engine/store/view_memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "engine/copy/checksum.h"
#include "engine/store/sealed_memory.h"

namespace tessera::engine {
namespace {

constexpr std::uint64_t kViewMagic = 0x3130574549565354ULL;  // "TSVIEW01" in memory order
constexpr std::uint64_t kViewVersion = 1;

struct ViewHeader {
  std::uint64_t magic = kViewMagic;
  std::uint64_t version = kViewVersion;
  std::uint64_t size = 0;
  ViewStamp stamp;
  std::uint64_t checksum = 0;  // of the words before it
};
static_assert(sizeof(ViewHeader) == 11 * sizeof(std::uint64_t), "no padding");
static_assert(sizeof(ViewHeader) <= kViewHeaderBytes);

std::uint64_t ChecksumOf(const ViewHeader& header) {
  return Checksum(std::as_bytes(std::span(&header, 1)).first(offsetof(ViewHeader, checksum)));
}

}  // namespace

Result<ViewMemory> ViewMemory::Create(const std::string& name, std::int64_t bytes,
                                      const std::stop_token& stop) {
  const auto size = static_cast<std::size_t>(bytes);
  if (bytes <= 0 || size % kViewHeaderBytes != 0) {
    return InvalidArgument(fmt::format("view memory of {} bytes: not a multiple of {} above 0",
                                       bytes, kViewHeaderBytes));
  }
  TESSERA_TRY(const SealedMemory memory, MakeSealedMemory(name, bytes, {.stop = stop}));
  return ViewMemory(memory.bytes, memory.fd);
}

Result<ViewMemory> ViewMemory::Map(int fd, std::int64_t bytes, const ViewStamp& expected) {
  struct stat status {};
  if (fstat(fd, &status) != 0) {
    return Unavailable(fmt::format("view memory: descriptor {}: {}", fd, std::strerror(errno)));
  }
  if (status.st_size != bytes || bytes < static_cast<std::int64_t>(kViewHeaderBytes)) {
    return DataLoss(fmt::format("view memory of {} bytes, {} expected",
                                static_cast<std::int64_t>(status.st_size), bytes));
  }
  const int seals = fcntl(fd, F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0) {
    return DataLoss("view memory: its size is not sealed");
  }
  const auto size = static_cast<std::size_t>(bytes);
  void* address = mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
  if (address == MAP_FAILED) {
    return Unavailable(
        fmt::format("cannot map a view's {} bytes: {}", bytes, std::strerror(errno)));
  }
  ViewMemory memory({static_cast<std::byte*>(address), size}, -1);
  ViewHeader header;
  std::memcpy(&header, memory.data(0), sizeof header);
  if (header.magic != kViewMagic) {
    return DataLoss(
        fmt::format("view memory: magic {:016x}, {:016x} expected", header.magic, kViewMagic));
  }
  if (header.version != kViewVersion) {
    return Error{
        ErrorCode::kUnimplemented,
        fmt::format("view memory: version {}, this program knows {}", header.version, kViewVersion),
        {}};
  }
  if (header.checksum != ChecksumOf(header)) return DataLoss("view memory: damaged header");
  if (header.size != size || !(header.stamp == expected)) {
    return DataLoss(fmt::format(
        "view memory of view {:016x} step {} on n{}, expected view {:016x} step {} on n{}, with "
        "the same layout",
        header.stamp.view, header.stamp.step, header.stamp.node, expected.view, expected.step,
        expected.node));
  }
  return memory;
}

Result<ViewMemory> ViewMemory::Adopt(int fd, std::int64_t bytes, const ViewStamp& expected) {
  auto memory = Map(fd, bytes, expected);
  if (memory) {
    memory->fd_ = fd;
  } else {
    close(fd);
  }
  return memory;
}

ViewMemory::ViewMemory(ViewMemory&& other) noexcept
    : bytes_(std::exchange(other.bytes_, {})), fd_(std::exchange(other.fd_, -1)) {}

ViewMemory& ViewMemory::operator=(ViewMemory&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  std::swap(fd_, other.fd_);
  return *this;
}

ViewMemory::~ViewMemory() {
  if (!bytes_.empty()) munmap(bytes_.data(), bytes_.size());
  if (fd_ >= 0) close(fd_);
}

void ViewMemory::Stamp(const ViewStamp& stamp) {
  ViewHeader header;
  header.size = bytes_.size();
  header.stamp = stamp;
  header.checksum = ChecksumOf(header);
  std::memcpy(bytes_.data(), &header, sizeof header);
  std::atomic_thread_fence(std::memory_order_release);
}

}  // namespace tessera::engine
