// SPDX-License-Identifier: Apache-2.0
#include "tests/support/cuda_emulation/memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <string>

namespace tessera::test::cuda_emulation {
namespace {

constexpr const char* kName = "cuda-emulation-";

void* At(cuda::DevicePointer address) { return reinterpret_cast<void*>(address); }

/// The device of a descriptor of Export; -1: it is of something else.
int DeviceOf(int fd) {
  const int seals = ::fcntl(fd, F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0) return -1;
  std::array<char, 128> link{};
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  if (::readlink(path.c_str(), link.data(), link.size() - 1) < 0) return -1;
  int device = -1;
  const std::string format = std::string("/memfd:") + kName + "%d";
  return std::sscanf(link.data(), format.c_str(), &device) == 1 ? device : -1;
}

}  // namespace

Memory::Allocation::~Allocation() {
  ::munmap(second, size);
  ::close(fd);
}

std::shared_ptr<Memory::Allocation> Memory::MapSecond(int fd, std::size_t size, int device) {
  void* const second = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (second == MAP_FAILED) return nullptr;
  return std::make_shared<Allocation>(fd, size, device, static_cast<std::byte*>(second));
}

std::size_t Memory::Used(int device) {
  const std::lock_guard lock(mutex_);
  std::size_t used = 0;
  std::erase_if(made_, [](const auto& weak) { return weak.expired(); });
  for (const auto& weak : made_) {
    if (const auto allocation = weak.lock(); allocation && allocation->device == device) {
      used += allocation->size;
    }
  }
  return used;
}

cuda::Code Memory::Keep(std::shared_ptr<Allocation> allocation, cuda::AllocationHandle* out) {
  if (!allocation) return cuda::kOutOfMemory;
  const std::lock_guard lock(mutex_);
  handles_.emplace(++next_, std::move(allocation));
  *out = next_;
  return cuda::kSuccess;
}

cuda::Code Memory::Create(int device, std::size_t size, cuda::AllocationHandle* out) {
  if (size == 0 || size % kGranule != 0) return cuda::kInvalidValue;
  if (Used(device) + size > settings_.memory) return cuda::kOutOfMemory;
  const std::string name = kName + std::to_string(device);
  const int fd = ::memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return cuda::kOutOfMemory;
  if (::ftruncate(fd, static_cast<off_t>(size)) != 0 ||
      ::fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0) {
    ::close(fd);
    return cuda::kOutOfMemory;
  }
  auto allocation = MapSecond(fd, size, device);
  if (!allocation) {
    ::close(fd);
    return cuda::kOutOfMemory;
  }
  // New memory of a device has any content.
  allocation->second[0] = allocation->second[size - 1] = std::byte{0xa5};
  {
    const std::lock_guard lock(mutex_);
    made_.insert(allocation);
  }
  return Keep(std::move(allocation), out);
}

cuda::Code Memory::Release(cuda::AllocationHandle handle) {
  const std::lock_guard lock(mutex_);
  return handles_.erase(handle) == 1 ? cuda::kSuccess : cuda::kInvalidValue;
}

cuda::Code Memory::Export(cuda::AllocationHandle handle, int* fd) {
  const std::lock_guard lock(mutex_);
  const auto found = handles_.find(handle);
  if (found == handles_.end()) return cuda::kInvalidValue;
  *fd = ::fcntl(found->second->fd, F_DUPFD_CLOEXEC, 0);
  return *fd < 0 ? cuda::kUnknown : cuda::kSuccess;
}

cuda::Code Memory::Import(int fd, cuda::AllocationHandle* out) {
  const int device = DeviceOf(fd);
  struct stat info {};
  if (device < 0 || ::fstat(fd, &info) != 0) return cuda::kInvalidValue;
  const int own = ::fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (own < 0) return cuda::kUnknown;
  auto allocation = MapSecond(own, static_cast<std::size_t>(info.st_size), device);
  if (!allocation) ::close(own);
  return Keep(std::move(allocation), out);
}

cuda::Code Memory::Reserve(std::size_t size, cuda::DevicePointer* out) {
  if (size == 0 || size % kGranule != 0) return cuda::kInvalidValue;
  void* const address =
      ::mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED) return cuda::kOutOfMemory;
  const std::lock_guard lock(mutex_);
  *out = reinterpret_cast<cuda::DevicePointer>(address);
  reservations_.emplace(*out, size);
  return cuda::kSuccess;
}

cuda::Code Memory::Free(cuda::DevicePointer address, std::size_t size) {
  const std::lock_guard lock(mutex_);
  const auto found = reservations_.find(address);
  if (found == reservations_.end() || found->second != size || mappings_.contains(address)) {
    return cuda::kInvalidValue;
  }
  reservations_.erase(found);
  ::munmap(At(address), size);
  return cuda::kSuccess;
}

cuda::Code Memory::Map(cuda::DevicePointer address, std::size_t size,
                       cuda::AllocationHandle handle) {
  const std::lock_guard lock(mutex_);
  const auto reserved = reservations_.find(address);
  const auto found = handles_.find(handle);
  if (reserved == reservations_.end() || reserved->second != size || mappings_.contains(address) ||
      found == handles_.end() || found->second->size != size) {
    return cuda::kInvalidValue;
  }
  const int protection = allows_host_ ? PROT_READ | PROT_WRITE : PROT_NONE;
  if (::mmap(At(address), size, protection, MAP_SHARED | MAP_FIXED, found->second->fd, 0) ==
      MAP_FAILED) {
    return cuda::kOutOfMemory;
  }
  mappings_.emplace(address, Mapping{size, found->second, {}});
  return cuda::kSuccess;
}

cuda::Code Memory::Unmap(cuda::DevicePointer address, std::size_t size) {
  const std::lock_guard lock(mutex_);
  const auto found = mappings_.find(address);
  if (found == mappings_.end() || found->second.size != size) return cuda::kInvalidValue;
  ::mmap(At(address), size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
         0);
  mappings_.erase(found);
  return cuda::kSuccess;
}

cuda::Code Memory::SetAccess(cuda::DevicePointer address, std::size_t size,
                             const cuda::Access* access, std::size_t count) {
  const std::lock_guard lock(mutex_);
  const auto found = mappings_.find(address);
  if (found == mappings_.end() || found->second.size != size) return cuda::kInvalidValue;
  const int owner = found->second.allocation->device;
  for (std::size_t i = 0; i < count; ++i) {
    const int device = access[i].location.id;
    const bool reaches =
        settings_.all_peers || device == owner ||
        settings_.peers.contains({std::min(device, owner), std::max(device, owner)});
    if (device < 0 || device >= settings_.devices || !reaches) return cuda::kInvalidDevice;
  }
  for (std::size_t i = 0; i < count; ++i) found->second.devices.insert(access[i].location.id);
  return cuda::kSuccess;
}

cuda::Code Memory::AllocateHost(std::size_t size, void** out) {
  void* const address =
      size == 0 ? MAP_FAILED
                : ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED) return cuda::kOutOfMemory;
  const std::lock_guard lock(mutex_);
  host_.emplace(reinterpret_cast<cuda::DevicePointer>(address), size);
  *out = address;
  return cuda::kSuccess;
}

cuda::Code Memory::FreeHost(void* address) {
  const std::lock_guard lock(mutex_);
  const auto found = host_.find(reinterpret_cast<cuda::DevicePointer>(address));
  if (found == host_.end()) return cuda::kInvalidValue;
  ::munmap(address, found->second);
  host_.erase(found);
  return cuda::kSuccess;
}

void Memory::AllowHostAccess() {
  const std::lock_guard lock(mutex_);
  allows_host_ = true;
  for (const auto& [address, mapping] : mappings_) {
    ::mprotect(At(address), mapping.size, PROT_READ | PROT_WRITE);
  }
}

std::byte* Memory::Find(int device, cuda::DevicePointer address, std::size_t size) {
  const std::lock_guard lock(mutex_);
  if (const auto after = mappings_.upper_bound(address); after != mappings_.begin()) {
    const auto& [first, mapping] = *std::prev(after);
    if (address - first <= mapping.size && size <= mapping.size - (address - first)) {
      return mapping.devices.contains(device) ? mapping.allocation->second + (address - first)
                                              : nullptr;
    }
  }
  if (const auto after = host_.upper_bound(address); after != host_.begin()) {
    const auto& [first, bytes] = *std::prev(after);
    if (address - first <= bytes && size <= bytes - (address - first)) {
      return static_cast<std::byte*>(At(address));
    }
  }
  return nullptr;
}

Memory::Live Memory::CountLive() {
  const std::lock_guard lock(mutex_);
  return {handles_.size(), mappings_.size(), reservations_.size(), host_.size()};
}

}  // namespace tessera::test::cuda_emulation
