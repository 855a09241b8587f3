// SPDX-License-Identifier: Apache-2.0
#include "agents/gpu/cuda_region.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace tessera::agents {
namespace {

cuda::AllocationProperties PropertiesOf(const CudaDevice& device) {
  cuda::AllocationProperties properties;
  properties.location.id = device.info().number;
  return properties;
}

}  // namespace

CudaRegion::CudaRegion(std::shared_ptr<const CudaDevice> device, std::int64_t bytes)
    : device_(std::move(device)), bytes_(bytes) {}

CudaRegion::~CudaRegion() {
  const cuda::Functions& api = device_->driver().api();
  static_cast<void>(device_->Enter());
  if (is_mapped_) api.MemUnmap(address_, size_);
  if (address_ != 0) api.MemAddressFree(address_, size_);
  if (has_handle_) api.MemRelease(handle_);
}

std::byte* CudaRegion::address() const { return reinterpret_cast<std::byte*>(address_); }

Result<std::size_t> CudaRegion::Granules(std::int64_t bytes) const {
  std::size_t granule = 0;
  const cuda::AllocationProperties properties = PropertiesOf(*device_);
  TESSERA_RETURN_IF_ERROR(device_->Check(
      device_->driver().api().MemGetGranularity(&granule, &properties, cuda::kGranularityMinimum),
      "cuMemGetAllocationGranularity"));
  return (static_cast<std::size_t>(bytes) + granule - 1) / granule * granule;
}

Result<std::unique_ptr<CudaRegion>> CudaRegion::Create(std::shared_ptr<const CudaDevice> device,
                                                       std::int64_t bytes) {
  std::unique_ptr<CudaRegion> region(new CudaRegion(std::move(device), bytes));
  const CudaDevice& on = *region->device_;
  TESSERA_RETURN_IF_ERROR(on.Enter());
  TESSERA_TRY(region->size_, region->Granules(bytes));
  const cuda::AllocationProperties properties = PropertiesOf(on);
  TESSERA_RETURN_IF_ERROR(
      on.Check(on.driver().api().MemCreate(&region->handle_, region->size_, &properties, 0),
               "cuMemCreate")
          .Context(fmt::format("{} MiB", bytes >> 20)));
  region->has_handle_ = true;
  TESSERA_RETURN_IF_ERROR(region->Map());
  // The driver promises nothing about the bytes of new memory.
  TESSERA_TRY(const CudaDevice::QueuePtr queue, on.TakeQueue());
  TESSERA_RETURN_IF_ERROR(queue->Clear(region->address_, static_cast<std::int64_t>(region->size_)));
  TESSERA_RETURN_IF_ERROR(queue->Wait());
  return region;
}

Result<std::unique_ptr<CudaRegion>> CudaRegion::Import(std::shared_ptr<const CudaDevice> device,
                                                       int fd, std::int64_t bytes) {
  std::unique_ptr<CudaRegion> region(new CudaRegion(std::move(device), bytes));
  const CudaDevice& on = *region->device_;
  TESSERA_RETURN_IF_ERROR(on.Enter());
  TESSERA_TRY(region->size_, region->Granules(bytes));
  void* const as_pointer = reinterpret_cast<void*>(static_cast<std::intptr_t>(fd));
  TESSERA_RETURN_IF_ERROR(
      on.Check(on.driver().api().MemImport(&region->handle_, as_pointer, cuda::kHandlePosixFd),
               "cuMemImportFromShareableHandle"));
  region->has_handle_ = true;
  TESSERA_RETURN_IF_ERROR(region->Map());
  return region;
}

Status CudaRegion::Map() {
  const cuda::Functions& api = device_->driver().api();
  TESSERA_RETURN_IF_ERROR(
      device_->Check(api.MemAddressReserve(&address_, size_, 0, 0, 0), "cuMemAddressReserve"));
  TESSERA_RETURN_IF_ERROR(device_->Check(api.MemMap(address_, size_, 0, handle_, 0), "cuMemMap"));
  is_mapped_ = true;
  std::vector<cuda::Access> access(1);
  access[0].location.id = device_->info().number;
  for (const int peer : device_->info().peers) access.push_back({{cuda::kLocationDevice, peer}});
  return device_->Check(api.MemSetAccess(address_, size_, access.data(), access.size()),
                        "cuMemSetAccess");
}

Result<int> CudaRegion::Export() const {
  TESSERA_RETURN_IF_ERROR(device_->Enter());
  int fd = -1;
  TESSERA_RETURN_IF_ERROR(
      device_->Check(device_->driver().api().MemExport(&fd, handle_, cuda::kHandlePosixFd, 0),
                     "cuMemExportToShareableHandle"));
  return fd;
}

}  // namespace tessera::agents
