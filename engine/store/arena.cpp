// SPDX-License-Identifier: Apache-2.0
#include "engine/store/arena.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "ptc/base/check.h"

namespace tessera::engine {
namespace {

constexpr std::size_t kPageBytes = 4096;

std::string ReasonArena(int error) { return std::strerror(error); }  // NOLINT(concurrency-mt-unsafe)

/// Faults every page in. \error the errno value, 0 where all is well.
int TouchPages(std::span<std::byte> bytes) {
  // Advice only: where shared memory gets no huge pages the arena works with small ones.
  madvise(bytes.data(), bytes.size(), MADV_HUGEPAGE);
#ifdef MADV_POPULATE_WRITE
  if (madvise(bytes.data(), bytes.size(), MADV_POPULATE_WRITE) == 0) return 0;
  if (errno != EINVAL) return errno;  // EINVAL: a kernel before 5.14
#endif
  for (std::size_t at = 0; at < bytes.size(); at += kPageBytes) {
    static_cast<volatile std::byte*>(bytes.data())[at] = std::byte{0};
  }
  return 0;
}

struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) close(fd);
  }
  int Release() { return std::exchange(fd, -1); }
};

}  // namespace

Result<int> Arena::CreateMemfd(const std::string& name, std::int64_t capacity) {
  const auto size = static_cast<std::size_t>(capacity);
  if (capacity <= static_cast<std::int64_t>(kArenaDataOffset) || size % kPageBytes != 0) {
    return InvalidArgument(
        fmt::format("arena '{}': capacity {} is not a multiple of {} bytes above {}", name,
                    capacity, kPageBytes, kArenaDataOffset));
  }
  Descriptor memory{memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING)};
  if (memory.fd < 0) {
    return Unavailable(fmt::format("arena '{}': no memfd: {}", name, ReasonArena(errno)));
  }
  if (ftruncate(memory.fd, capacity) != 0) {
    return ResourceExhausted(
        fmt::format("arena '{}': no room for {} bytes: {}", name, capacity, ReasonArena(errno)));
  }
  // With the size sealed, no holder of the descriptor can cut a mapping short under another's feet.
  fcntl(memory.fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);

  void* address = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, memory.fd, 0);
  if (address == MAP_FAILED) {
    return ResourceExhausted(
        fmt::format("arena '{}': cannot map {} bytes: {}", name, capacity, ReasonArena(errno)));
  }
  const Arena arena({static_cast<std::byte*>(address), size}, true);
  if (const int error = TouchPages(arena.bytes_); error != 0) {
    return ResourceExhausted(
        fmt::format("arena '{}': no memory for {} bytes: {}", name, capacity, ReasonArena(error)));
  }
  arena.header().version.store(kArenaVersion);
  arena.header().capacity_bytes.store(size);
  arena.header().magic.store(kArenaMagic, std::memory_order_release);
  return memory.Release();
}

Result<Arena> Arena::Map(int fd, bool writable) {
  struct stat status {};
  if (fstat(fd, &status) != 0) {
    return InvalidArgument(fmt::format("arena: descriptor {}: {}", fd, ReasonArena(errno)));
  }
  if (status.st_size <= static_cast<off_t>(kArenaDataOffset)) {
    return DataLoss(fmt::format("arena: {} bytes, at least {} expected",
                                static_cast<std::int64_t>(status.st_size), kArenaDataOffset + 1));
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  void* address =
      mmap(nullptr, size, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd, 0);
  if (address == MAP_FAILED) {
    return InvalidArgument(
        fmt::format("arena: cannot map {} bytes of descriptor {}: {}", size, fd, ReasonArena(errno)));
  }
  Arena arena({static_cast<std::byte*>(address), size}, writable);
  const ArenaHeader& header = arena.header();
  if (const auto magic = header.magic.load(std::memory_order_acquire); magic != kArenaMagic) {
    return DataLoss(fmt::format("arena: magic {:016x}, {:016x} expected", magic, kArenaMagic));
  }
  if (const auto version = header.version.load(); version != kArenaVersion) {
    return Error{ErrorCode::kUnimplemented,
                 fmt::format("arena: version {}, this program knows {}", version, kArenaVersion),
                 {}};
  }
  if (const auto capacity = header.capacity_bytes.load(); capacity != size) {
    return DataLoss(fmt::format("arena: {} bytes by its header, {} in memory", capacity, size));
  }
  return arena;
}

Arena::Arena(Arena&& other) noexcept
    : bytes_(std::exchange(other.bytes_, {})), writable_(other.writable_) {}

Arena& Arena::operator=(Arena&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  std::swap(writable_, other.writable_);
  return *this;
}

Arena::~Arena() {
  if (!bytes_.empty()) munmap(bytes_.data(), bytes_.size());
}

std::byte* Arena::data(std::int64_t offset) const {
  TESSERA_DCHECK(0 <= offset && offset < capacity());
  return bytes_.data() + offset;
}

std::span<std::byte> Arena::table_slot(int slot) const {
  TESSERA_DCHECK(slot == 0 || slot == 1);
  return bytes_.subspan(kArenaHeaderBytes + static_cast<std::size_t>(slot) * kPieceTableSlotBytes,
                        kPieceTableSlotBytes);
}

}  // namespace tessera::engine
