// SPDX-License-Identifier: Apache-2.0
#include "engine/store/arena.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "engine/store/sealed_memory.h"
#include "ptc/base/check.h"

namespace tessera::engine {
namespace {

constexpr std::size_t kArenaPageBytes = 4096;

/// Never 0, which stands for no token.
Result<std::uint64_t> NewToken() {
  std::uint64_t token = 0;
  while (token == 0) {
    if (::getrandom(&token, sizeof token, 0) != static_cast<ssize_t>(sizeof token)) {
      return Unavailable(fmt::format("arena: no random bytes: {}", std::strerror(errno)));
    }
  }
  return token;
}

}  // namespace

Result<int> Arena::CreateMemfd(const std::string& name, std::int64_t capacity,
                               const std::function<void(std::int64_t)>& made) {
  const auto size = static_cast<std::size_t>(capacity);
  if (capacity <= static_cast<std::int64_t>(kArenaDataOffset) || size % kArenaPageBytes != 0) {
    return InvalidArgument(
        fmt::format("arena '{}': capacity {} is not a multiple of {} bytes above {}", name,
                    capacity, kArenaPageBytes, kArenaDataOffset));
  }
  TESSERA_TRY(const SealedMemory memory,
              MakeSealedMemory(name, capacity, {.made = made, .touch = false}));
  const Arena arena(memory.bytes, true);
  arena.header().version.store(kArenaVersion);
  arena.header().capacity_bytes.store(size);
  TESSERA_TRY(const std::uint64_t token, NewToken());
  arena.header().token.store(token);
  arena.header().magic.store(kArenaMagic, std::memory_order_release);
  return memory.fd;
}

Result<Arena> Arena::Map(int fd, bool writable) {
  struct stat status {};
  if (fstat(fd, &status) != 0) {
    return InvalidArgument(fmt::format("arena: descriptor {}: {}", fd, std::strerror(errno)));
  }
  if (status.st_size <= static_cast<off_t>(kArenaDataOffset)) {
    return DataLoss(fmt::format("arena: {} bytes, at least {} expected",
                                static_cast<std::int64_t>(status.st_size), kArenaDataOffset + 1));
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  void* address =
      mmap(nullptr, size, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd, 0);
  if (address == MAP_FAILED) {
    return InvalidArgument(fmt::format("arena: cannot map {} bytes of descriptor {}: {}", size, fd,
                                       std::strerror(errno)));
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
  const std::uint64_t offset = header().table_offset[slot].load(std::memory_order_acquire);
  if (offset < kEmptyTableOffset || offset >= bytes_.size()) return {};
  return bytes_.subspan(offset);
}

}  // namespace tessera::engine
