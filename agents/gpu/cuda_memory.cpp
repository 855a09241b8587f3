// SPDX-License-Identifier: Apache-2.0
#include "agents/gpu/cuda_memory.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "agents/gpu/cell_plan.h"

namespace tessera::agents {
namespace {

std::uint64_t AddressOf(std::span<const std::byte> bytes) {
  return reinterpret_cast<std::uint64_t>(bytes.data());
}

}  // namespace

Result<std::uint64_t> CudaMemory::Pack(const engine::CellView& from,
                                       const engine::CellView* indices, std::int64_t offset,
                                       std::span<std::byte> out) const {
  if (out.empty()) return 0;
  TESSERA_TRY(const CudaDevice::QueuePtr queue, device_->TakeQueue());
  if (indices != nullptr) TESSERA_RETURN_IF_ERROR(queue->ClearSlots());
  const std::uint64_t digest = indices != nullptr ? queue->SlotAddress(0) : 0;
  while (!out.empty()) {
    const std::size_t bytes = std::min(out.size(), queue->staging().size());
    const std::int64_t end = offset + static_cast<std::int64_t>(bytes);
    TESSERA_RETURN_IF_ERROR(queue->Launch(
        gpu::PackWork(from, {AddressOf(queue->staging()), offset}, indices, end, digest)));
    TESSERA_RETURN_IF_ERROR(queue->Wait());
    std::memcpy(out.data(), queue->staging().data(), bytes);
    out = out.subspan(bytes);
    offset = end;
  }
  return indices != nullptr ? queue->slot(0) : 0;
}

Result<std::uint64_t> CudaMemory::Unpack(const engine::CellView& to,
                                         const engine::CellView* indices, std::int64_t offset,
                                         std::span<const std::byte> in) const {
  if (in.empty()) return 0;
  TESSERA_TRY(const CudaDevice::QueuePtr queue, device_->TakeQueue());
  if (indices != nullptr) TESSERA_RETURN_IF_ERROR(queue->ClearSlots());
  while (!in.empty()) {
    const std::size_t bytes = std::min(in.size(), queue->staging().size());
    const std::int64_t end = offset + static_cast<std::int64_t>(bytes);
    std::memcpy(queue->staging().data(), in.data(), bytes);
    TESSERA_RETURN_IF_ERROR(
        queue->Launch(gpu::UnpackWork({AddressOf(queue->staging()), offset}, to, end)));
    if (indices != nullptr) {
      TESSERA_RETURN_IF_ERROR(
          queue->Launch(gpu::DigestWork(to, *indices, offset, end, queue->SlotAddress(0))));
    }
    TESSERA_RETURN_IF_ERROR(queue->Wait());
    in = in.subspan(bytes);
    offset = end;
  }
  return indices != nullptr ? queue->slot(0) : 0;
}

Result<std::uint64_t> CudaMemory::Digest(const engine::CellView& from,
                                         const engine::CellView& indices) const {
  TESSERA_TRY(const CudaDevice::QueuePtr queue, device_->TakeQueue());
  TESSERA_RETURN_IF_ERROR(queue->ClearSlots());
  TESSERA_RETURN_IF_ERROR(
      queue->Launch(gpu::DigestWork(from, indices, 0, from.size_bytes(), queue->SlotAddress(0))));
  TESSERA_RETURN_IF_ERROR(queue->Wait());
  return queue->slot(0);
}

Result<engine::CopyDigests> CudaMemory::Copy(std::span<const engine::DeviceCell> to,
                                             const engine::CellView& from,
                                             const engine::CellView& indices,
                                             const std::function<void()>& source_digested) const {
  engine::CopyDigests out{0, std::vector<std::uint64_t>(to.size())};
  std::vector<std::size_t> near, far;  // that the device reaches, and others
  for (std::size_t i = 0; i < to.size(); ++i) {
    const auto& memory = static_cast<const CudaMemory&>(to[i].memory());
    (device_->Reaches(memory.device_->info().number) ? near : far).push_back(i);
  }
  if (near.empty()) {
    TESSERA_TRY(out.source, Digest(from, indices));
  } else {
    TESSERA_RETURN_IF_ERROR(CopyNear(to, near, from, indices, out));
  }
  if (source_digested) source_digested();
  for (const std::size_t i : far) {
    TESSERA_TRY(out.copies[i], CopyOver(to[i], from, indices));
  }
  return out;
}

// The first copy reads the source for its digest, too: the bytes that are stored are those of the
// digest.
Status CudaMemory::CopyNear(std::span<const engine::DeviceCell> to,
                            std::span<const std::size_t> near, const engine::CellView& from,
                            const engine::CellView& indices, engine::CopyDigests& out) const {
  constexpr int kSource = CudaQueue::kSlots - 1;
  const std::int64_t size = from.size_bytes();
  TESSERA_TRY(const CudaDevice::QueuePtr queue, device_->TakeQueue());
  for (bool is_first = true; !near.empty(); is_first = false) {
    const auto some = near.first(std::min<std::size_t>(near.size(), kSource));
    near = near.subspan(some.size());
    TESSERA_RETURN_IF_ERROR(queue->ClearSlots());
    for (std::size_t slot = 0; slot < some.size(); ++slot) {
      const engine::CellView& view = to[some[slot]].view();
      const bool digests_source = is_first && slot == 0;
      TESSERA_RETURN_IF_ERROR(
          queue->Launch(gpu::CopyWork(from, view, digests_source ? &indices : nullptr, 0, size,
                                      digests_source ? queue->SlotAddress(kSource) : 0)));
      TESSERA_RETURN_IF_ERROR(queue->Launch(
          gpu::DigestWork(view, indices, 0, size, queue->SlotAddress(static_cast<int>(slot)))));
    }
    TESSERA_RETURN_IF_ERROR(queue->Wait());
    if (is_first) out.source = queue->slot(kSource);
    for (std::size_t slot = 0; slot < some.size(); ++slot) {
      out.copies[some[slot]] = queue->slot(static_cast<int>(slot));
    }
  }
  return OkStatus();
}

Result<std::uint64_t> CudaMemory::CopyOver(const engine::DeviceCell& to,
                                           const engine::CellView& from,
                                           const engine::CellView& indices) const {
  std::vector<std::byte> host(
      static_cast<std::size_t>(std::min(from.size_bytes(), CudaQueue::kStagingBytes)));
  std::uint64_t digest = 0;
  for (std::int64_t offset = 0; offset < from.size_bytes();) {
    const std::int64_t bytes = std::min(from.size_bytes() - offset, std::ssize(host));
    const auto part = std::span(host).first(static_cast<std::size_t>(bytes));
    TESSERA_RETURN_IF_ERROR(Pack(from, nullptr, offset, part));
    TESSERA_TRY(const std::uint64_t written, to.Unpack(offset, part, &indices));
    digest += written;
    offset += bytes;
  }
  return digest;
}

Status CudaMemory::Clear(std::byte* address, std::int64_t size) const {
  TESSERA_TRY(const CudaDevice::QueuePtr queue, device_->TakeQueue());
  TESSERA_RETURN_IF_ERROR(queue->Clear(reinterpret_cast<std::uint64_t>(address), size));
  return queue->Wait();
}

}  // namespace tessera::agents
