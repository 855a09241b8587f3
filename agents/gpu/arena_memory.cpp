// SPDX-License-Identifier: Apache-2.0
#include "agents/gpu/arena_memory.h"

#include <memory>
#include <utility>

#include "agents/gpu/cuda_memory.h"
#include "agents/gpu/cuda_region.h"

namespace tessera::agents {
namespace {

/// The memory of one arena, which lives as long as the arena.
class MemoryOfRegion : public CudaMemory {
 public:
  explicit MemoryOfRegion(std::unique_ptr<CudaRegion> region)
      : CudaMemory(region->device()), region_(std::move(region)) {}

 private:
  const std::unique_ptr<CudaRegion> region_;
};

void Attach(engine::Arena& arena, std::unique_ptr<CudaRegion> region) {
  std::byte* const address = region->address();
  arena.Attach(std::make_shared<const MemoryOfRegion>(std::move(region)), address);
}

}  // namespace

Result<int> MakeCudaMemory(engine::Arena& arena, int device) {
  TESSERA_TRY(std::shared_ptr<const CudaDevice> on, CudaDevice::Open(device));
  TESSERA_TRY(std::unique_ptr<CudaRegion> region,
              CudaRegion::Create(std::move(on), arena.capacity()));
  TESSERA_TRY(const int fd, region->Export());
  Attach(arena, std::move(region));
  return fd;
}

Status AttachCudaMemory(engine::Arena& arena, int device, int fd) {
  TESSERA_TRY(std::shared_ptr<const CudaDevice> on, CudaDevice::Open(device));
  TESSERA_TRY(std::unique_ptr<CudaRegion> region,
              CudaRegion::Import(std::move(on), fd, arena.capacity()));
  Attach(arena, std::move(region));
  return OkStatus();
}

}  // namespace tessera::agents
