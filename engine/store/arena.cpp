// SPDX-License-Identifier: Apache-2.0
#include "engine/store/arena.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
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

Status CheckCapacity(const std::string& name, std::int64_t capacity) {
  const auto size = static_cast<std::size_t>(capacity);
  if (capacity > static_cast<std::int64_t>(kArenaDataOffset) && size % kArenaPageBytes == 0) {
    return OkStatus();
  }
  return InvalidArgument(
      fmt::format("arena '{}': capacity {} is not a multiple of {} bytes above {}", name, capacity,
                  kArenaPageBytes, kArenaDataOffset));
}

/// Makes the control page of an empty arena.
Status Format(ArenaHeader& header, std::int64_t capacity, MemoryKind kind) {
  header.memory_kind.store(static_cast<std::uint64_t>(kind));
  header.version.store(kArenaVersion);
  header.capacity_bytes.store(static_cast<std::uint64_t>(capacity));
  TESSERA_TRY(const std::uint64_t token, NewToken());
  header.token.store(token);
  header.magic.store(kArenaMagic, std::memory_order_release);
  return OkStatus();
}

/// \error kInvalidArgument for a file that cannot be mapped
Result<std::span<std::byte>> MapRange(int fd, std::int64_t offset, std::size_t size,
                                      bool writable) {
  void* const address = mmap(nullptr, size, writable ? PROT_READ | PROT_WRITE : PROT_READ,
                             MAP_SHARED, fd, static_cast<off_t>(offset));
  if (address == MAP_FAILED) {
    return InvalidArgument(fmt::format("arena: cannot map {} bytes of descriptor {}: {}", size, fd,
                                       std::strerror(errno)));
  }
  return std::span(static_cast<std::byte*>(address), size);
}

/// Bytes of the file.
Result<std::int64_t> SizeOf(int fd) {
  struct stat status {};
  if (fstat(fd, &status) != 0) {
    return InvalidArgument(fmt::format("arena: descriptor {}: {}", fd, std::strerror(errno)));
  }
  if (status.st_size <= static_cast<off_t>(kArenaDataOffset)) {
    return DataLoss(fmt::format("arena: {} bytes, at least {} expected",
                                static_cast<std::int64_t>(status.st_size), kArenaDataOffset + 1));
  }
  return static_cast<std::int64_t>(status.st_size);
}

}  // namespace

Result<int> Arena::CreateMemfd(const std::string& name, std::int64_t capacity,
                               const std::function<void(std::int64_t)>& made) {
  TESSERA_RETURN_IF_ERROR(CheckCapacity(name, capacity));
  TESSERA_TRY(const SealedMemory memory,
              MakeSealedMemory(name, capacity, {.made = made, .touch = false}));
  const Arena arena(memory.bytes, capacity, true);
  TESSERA_RETURN_IF_ERROR(Format(arena.header(), capacity, MemoryKind::kHost));
  return memory.fd;
}

Result<int> Arena::CreateSparse(const std::string& name, std::int64_t capacity, MemoryKind kind) {
  TESSERA_RETURN_IF_ERROR(CheckCapacity(name, capacity));
  const int fd = ::memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING);
  // Ranks hold the descriptor too, and could cut the mapping of the agent short.
  if (fd < 0 || ::ftruncate(fd, static_cast<off_t>(capacity)) != 0 ||
      ::fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0) {
    const int why = errno;
    if (fd >= 0) ::close(fd);
    return Unavailable(fmt::format("arena '{}': {}", name, std::strerror(why)));
  }
  const auto page = MapRange(fd, 0, kArenaHeaderBytes, true);
  const Status formatted =
      page ? Format(Arena(*page, capacity, true).header(), capacity, kind) : Status(page.error());
  if (formatted) return fd;
  ::close(fd);
  return formatted.error();
}

Result<Arena> Arena::Map(int fd, bool writable) {
  TESSERA_TRY(const std::int64_t size, SizeOf(fd));
  TESSERA_TRY(const std::span<std::byte> bytes,
              MapRange(fd, 0, static_cast<std::size_t>(size), writable));
  Arena arena(bytes, size, writable);
  TESSERA_RETURN_IF_ERROR(arena.Check());
  return arena;
}

Result<Arena> Arena::MapWindows(int fd) {
  TESSERA_TRY(const std::int64_t size, SizeOf(fd));
  TESSERA_TRY(const std::span<std::byte> bytes, MapRange(fd, 0, kArenaHeaderBytes, true));
  Arena arena(bytes, size, true);
  TESSERA_RETURN_IF_ERROR(arena.Check());
  arena.window_fd_ = fd;
  return arena;
}

Status Arena::Check() const {
  if (const auto magic = header().magic.load(std::memory_order_acquire); magic != kArenaMagic) {
    return DataLoss(fmt::format("arena: magic {:016x}, {:016x} expected", magic, kArenaMagic));
  }
  if (const auto version = header().version.load(); version != kArenaVersion) {
    return Error{ErrorCode::kUnimplemented,
                 fmt::format("arena: version {}, this program knows {}", version, kArenaVersion),
                 {}};
  }
  if (const auto kind = header().memory_kind.load();
      kind > static_cast<std::uint64_t>(MemoryKind::kCuda)) {
    return DataLoss(fmt::format("arena: memory of kind {}, at most {} expected", kind,
                                static_cast<int>(MemoryKind::kCuda)));
  }
  if (const auto bytes = header().capacity_bytes.load();
      bytes != static_cast<std::uint64_t>(capacity_)) {
    return DataLoss(fmt::format("arena: {} bytes by its header, {} in memory", bytes, capacity_));
  }
  return OkStatus();
}

Arena::Arena(std::span<std::byte> bytes, std::int64_t capacity, bool writable)
    : bytes_(bytes), capacity_(capacity), writable_(writable) {}

Arena::Arena(Arena&& other) noexcept
    : bytes_(std::exchange(other.bytes_, {})),
      capacity_(other.capacity_),
      writable_(other.writable_),
      window_fd_(other.window_fd_),
      memory_(std::move(other.memory_)),
      memory_address_(other.memory_address_) {}

Arena& Arena::operator=(Arena&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  std::swap(capacity_, other.capacity_);
  std::swap(writable_, other.writable_);
  std::swap(window_fd_, other.window_fd_);
  std::swap(memory_, other.memory_);
  std::swap(memory_address_, other.memory_address_);
  return *this;
}

Arena::~Arena() {
  if (!bytes_.empty()) munmap(bytes_.data(), bytes_.size());
}

void Arena::Attach(std::shared_ptr<const DeviceMemory> memory, std::byte* address) {
  memory_ = std::move(memory);
  memory_address_ = address;
}

bool Arena::has_memory() const { return memory_ || memory_kind() == MemoryKind::kHost; }

std::byte* Arena::AddressOf(std::int64_t offset) const {
  TESSERA_DCHECK(0 <= offset && offset < capacity() && has_memory());
  if (memory_) return memory_address_ + offset;
  TESSERA_DCHECK(!window_fd_);
  return bytes_.data() + offset;
}

ArenaBytes Arena::From(std::int64_t offset) const {
  TESSERA_DCHECK(0 <= offset && offset < capacity());
  if (!window_fd_ || offset < static_cast<std::int64_t>(kArenaDataOffset)) {
    return {bytes_.subspan(static_cast<std::size_t>(offset)), nullptr};
  }
  constexpr auto kPage = static_cast<std::int64_t>(kArenaPageBytes);
  const std::int64_t begin = offset / kPage * kPage;
  const std::int64_t size = std::min(kWindowBytes, capacity_ - begin);
  const auto mapped = MapRange(*window_fd_, begin, static_cast<std::size_t>(size), true);
  if (!mapped) return {};
  const auto unmap = [size = mapped->size()](void* address) { munmap(address, size); };
  return {mapped->subspan(static_cast<std::size_t>(offset - begin)),
          std::shared_ptr<void>(mapped->data(), unmap)};
}

ArenaBytes Arena::table_slot(int slot) const {
  TESSERA_DCHECK(slot == 0 || slot == 1);
  const std::uint64_t offset = header().table_offset[slot].load(std::memory_order_acquire);
  if (offset < kEmptyTableOffset || offset >= static_cast<std::uint64_t>(capacity_)) return {};
  return From(static_cast<std::int64_t>(offset));
}

}  // namespace tessera::engine
