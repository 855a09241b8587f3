// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Memory of a CUDA device that several processes map. Its descriptor keeps it alive: whoever holds
/// it, as the keeper does, needs no driver.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "agents/gpu/cuda_device.h"
#include "ptc/base/result.h"

namespace tessera::agents {

/// A mapping of the memory in this process.
class CudaRegion {
 public:
  /// Makes `bytes` of memory, rounded up to the granularity of the device, all zero.
  /// \error kResourceExhausted naming device and bytes; kUnavailable
  static Result<std::unique_ptr<CudaRegion>> Create(std::shared_ptr<const CudaDevice> device,
                                                    std::int64_t bytes);
  /// Maps memory that another process has made and exported.
  /// \param fd may be closed afterwards
  /// \error kDataLoss for a descriptor of something else; kUnavailable
  static Result<std::unique_ptr<CudaRegion>> Import(std::shared_ptr<const CudaDevice> device,
                                                    int fd, std::int64_t bytes);
  CudaRegion(const CudaRegion&) = delete;
  CudaRegion& operator=(const CudaRegion&) = delete;
  ~CudaRegion();

  /// A descriptor of the memory, which the caller closes.
  /// \error kUnavailable
  Result<int> Export() const;
  const std::shared_ptr<const CudaDevice>& device() const { return device_; }
  /// Of the first byte, in the address space of device and process. Host code must not use it.
  std::byte* address() const;

 private:
  CudaRegion(std::shared_ptr<const CudaDevice> device, std::int64_t bytes);
  /// Bytes that the driver takes for `bytes`.
  Result<std::size_t> Granules(std::int64_t bytes) const;
  /// For the device and for those that reach it.
  Status Map();

  const std::shared_ptr<const CudaDevice> device_;
  const std::int64_t bytes_;
  std::size_t size_ = 0;
  cuda::AllocationHandle handle_ = 0;
  bool has_handle_ = false;
  cuda::DevicePointer address_ = 0;
  bool is_mapped_ = false;
};

}  // namespace tessera::agents
