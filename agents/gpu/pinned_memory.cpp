// SPDX-License-Identifier: Apache-2.0
#include "agents/gpu/pinned_memory.h"

#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>

#include "agents/gpu/cuda_device.h"

namespace tessera::agents {
namespace {

constexpr unsigned kPortable = 1;  // CU_MEMHOSTALLOC_PORTABLE

struct Ranges {
  std::shared_mutex mutex;
  std::map<const std::byte*, std::size_t, std::less<>> sizes;  // by the first byte; under mutex
};
/// Never destroyed: buffers may be held until the process ends.
Ranges& AllRanges() {
  static auto* const ranges = new Ranges;
  return *ranges;
}

}  // namespace

Result<engine::HostBuffer> MakePinnedMemory(const CudaDevice& device, std::size_t size) {
  TESSERA_RETURN_IF_ERROR(device.Enter());
  void* memory = nullptr;
  TESSERA_RETURN_IF_ERROR(
      device.Check(device.driver().api().MemHostAlloc(&memory, size, kPortable), "cuMemHostAlloc"));
  auto* const first = static_cast<std::byte*>(memory);
  Ranges& ranges = AllRanges();
  {
    const std::lock_guard lock(ranges.mutex);
    ranges.sizes[first] = size;
  }
  return engine::HostBuffer{{first, size},
                            std::shared_ptr<void>(memory, [&device, &ranges](void* used) {
                              {
                                const std::lock_guard lock(ranges.mutex);
                                ranges.sizes.erase(static_cast<const std::byte*>(used));
                              }
                              // Errors of the device have been reported by the work that met them.
                              static_cast<void>(device.Enter());
                              device.driver().api().MemFreeHost(used);
                            })};
}

bool IsPinned(std::span<const std::byte> bytes) {
  Ranges& ranges = AllRanges();
  const std::shared_lock lock(ranges.mutex);
  const auto after = ranges.sizes.upper_bound(bytes.data());
  if (after == ranges.sizes.begin()) return false;
  const auto& [first, size] = *std::prev(after);
  const auto offset = static_cast<std::size_t>(bytes.data() - first);
  return offset <= size && bytes.size() <= size - offset;
}

}  // namespace tessera::agents
