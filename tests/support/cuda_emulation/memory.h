// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Memory of emulated devices: memfds, each mapped twice. The addresses that programs get cannot be
/// used by host code, as those of a device; the emulation works through the second mapping.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "agents/gpu/driver_api.h"
#include "tests/support/cuda_emulation/settings.h"

namespace tessera::test::cuda_emulation {

namespace cuda = agents::cuda;

inline constexpr std::size_t kGranule = std::size_t{2} << 20;
inline constexpr cuda::Code kIllegalAddress = 700;

/// \threadsafety Any thread.
class Memory {
 public:
  explicit Memory(const Settings& settings) : settings_(settings) {}
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  cuda::Code Create(int device, std::size_t size, cuda::AllocationHandle* out);
  cuda::Code Release(cuda::AllocationHandle handle);
  cuda::Code Export(cuda::AllocationHandle handle, int* fd);
  cuda::Code Import(int fd, cuda::AllocationHandle* out);
  cuda::Code Reserve(std::size_t size, cuda::DevicePointer* out);
  cuda::Code Free(cuda::DevicePointer address, std::size_t size);
  cuda::Code Map(cuda::DevicePointer address, std::size_t size, cuda::AllocationHandle handle);
  cuda::Code Unmap(cuda::DevicePointer address, std::size_t size);
  cuda::Code SetAccess(cuda::DevicePointer address, std::size_t size, const cuda::Access* access,
                       std::size_t count);
  cuda::Code AllocateHost(std::size_t size, void** out);
  cuda::Code FreeHost(void* address);
  void AllowHostAccess();

  /// Where the emulation finds [address, address + size) if `device` may use it: memory of a device
  /// or of AllocateHost; otherwise nullptr.
  std::byte* Find(int device, cuda::DevicePointer address, std::size_t size);
  std::size_t Used(int device);

  struct Live {
    std::size_t allocations, mappings, reservations, host;
  };
  Live CountLive();

 private:
  struct Allocation {
    Allocation(int descriptor, std::size_t bytes, int on, std::byte* mapped)
        : fd(descriptor), size(bytes), device(on), second(mapped) {}
    Allocation(const Allocation&) = delete;
    Allocation& operator=(const Allocation&) = delete;
    ~Allocation();
    const int fd;
    const std::size_t size;
    const int device;
    std::byte* const second;
    bool is_own = false;  // made by this process, and counted
  };
  struct Mapping {
    std::size_t size;
    std::shared_ptr<Allocation> allocation;
    std::set<int> devices;  // that may use it
  };

  cuda::Code Keep(std::shared_ptr<Allocation> allocation, cuda::AllocationHandle* out);
  static std::shared_ptr<Allocation> MapSecond(int fd, std::size_t size, int device);

  const Settings& settings_;
  std::mutex mutex_;
  cuda::AllocationHandle next_ = 0x1000;
  std::map<cuda::AllocationHandle, std::shared_ptr<Allocation>> handles_;
  std::set<std::weak_ptr<Allocation>, std::owner_less<>> made_;  // of this process
  std::map<cuda::DevicePointer, std::size_t> reservations_;
  std::map<cuda::DevicePointer, Mapping> mappings_;
  std::map<cuda::DevicePointer, std::size_t> host_;
  bool allows_host_ = false;
};

}  // namespace tessera::test::cuda_emulation
