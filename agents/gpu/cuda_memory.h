// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The pieces of a CUDA device: what engine/copy/device_memory.h asks of a memory, by kernels.

#include <memory>

#include "agents/gpu/cuda_device.h"
#include "engine/copy/device_memory.h"

namespace tessera::agents {

/// Kernels read and write host memory over the bus, if the device reaches it (TakeHostBuffer).
/// Other host memory is packed and unpacked through that of two queues: the host copies a part
/// while the device works on the next one. Copies inside a device, and between devices that reach
/// each other, do not touch the host; others pass through it.
class CudaMemory : public engine::DeviceMemory {
 public:
  explicit CudaMemory(std::shared_ptr<const CudaDevice> device) : device_(std::move(device)) {}

  engine::MemoryKind kind() const override { return engine::MemoryKind::kCuda; }
  bool IsHostAccessible() const override { return device_->driver().has_host_access(); }
  int device() const override { return device_->info().number; }
  Result<std::uint64_t> Pack(const engine::CellView& from, const engine::CellView* indices,
                             std::int64_t offset, std::span<std::byte> out) const override;
  Result<std::uint64_t> Unpack(const engine::CellView& to, const engine::CellView* indices,
                               std::int64_t offset, std::span<const std::byte> in) const override;
  Result<engine::HostBuffer> TakeHostBuffer(std::size_t size) const override;
  Result<std::uint64_t> Digest(const engine::CellView& from,
                               const engine::CellView& indices) const override;
  Result<engine::CopyDigests> Copy(std::span<const engine::DeviceCell> to,
                                   const engine::CellView& from, const engine::CellView& indices,
                                   const std::function<void()>& source_digested) const override;
  Status Clear(std::byte* address, std::int64_t size) const override;
  Status Finish() const override { return device_->Finish(); }
  void MakePresent(std::byte*, std::int64_t) const override {}

 private:
  /// To those of `to` with the numbers `near`, which the device reaches. Sets their digests in
  /// `out` and that of the source.
  Status CopyNear(std::span<const engine::DeviceCell> to, std::span<const std::size_t> near,
                  const engine::CellView& from, const engine::CellView& indices,
                  engine::CopyDigests& out) const;
  /// Through the host.
  Result<std::uint64_t> CopyOver(const engine::DeviceCell& to, const engine::CellView& from,
                                 const engine::CellView& indices) const;

  const std::shared_ptr<const CudaDevice> device_;
};

}  // namespace tessera::agents
