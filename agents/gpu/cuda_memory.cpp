// SPDX-License-Identifier: Apache-2.0
#include "agents/gpu/cuda_memory.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "agents/gpu/cell_plan.h"
#include "agents/gpu/pinned_memory.h"

namespace tessera::agents {
namespace {

std::uint64_t AddressOf(std::span<const std::byte> bytes) {
  return reinterpret_cast<std::uint64_t>(bytes.data());
}

/// Passes ranges of a cell through the host memory of two queues in turn.
class Parts {
 public:
  struct Part {
    CudaDevice::QueuePtr queue;  // null: not used yet
    std::span<std::byte> out;    // where the host still has to copy what was packed
  };

  Parts(const CudaDevice& device, bool has_digests) : device_(device), has_digests_(has_digests) {}

  /// The part whose turn it is. The device may still work on it.
  Result<Part*> Next() {
    Part& part = parts_[turn_];
    turn_ = 1 - turn_;
    if (part.queue) return &part;
    TESSERA_TRY(part.queue, device_.TakeQueue());
    if (has_digests_) TESSERA_RETURN_IF_ERROR(part.queue->ClearSlots());
    return &part;
  }
  /// Waits for the device and copies what it has packed.
  static Status Collect(Part& part) {
    TESSERA_RETURN_IF_ERROR(part.queue->Wait());
    if (!part.out.empty())
      std::memcpy(part.out.data(), part.queue->staging().data(), part.out.size());
    part.out = {};
    return OkStatus();
  }
  /// Collects what is left. \return the digest of all parts
  Result<std::uint64_t> Finish() {
    std::uint64_t digest = 0;
    for (int i = 0; i < 2; ++i, turn_ = 1 - turn_) {
      Part& part = parts_[turn_];
      if (!part.queue) continue;
      TESSERA_RETURN_IF_ERROR(Collect(part));
      if (has_digests_) digest += part.queue->slot(0);
    }
    return digest;
  }

 private:
  const CudaDevice& device_;
  const bool has_digests_;
  std::array<Part, 2> parts_;
  std::size_t turn_ = 0;
};

Status LaunchPack(CudaQueue& queue, const engine::CellView& from, const engine::CellView* indices,
                  std::int64_t offset, std::span<const std::byte> out) {
  return queue.Launch(gpu::PackWork(from, {AddressOf(out), offset}, indices,
                                    offset + std::ssize(out),
                                    indices != nullptr ? queue.SlotAddress(0) : 0));
}

Status LaunchUnpack(CudaQueue& queue, const engine::CellView& to, const engine::CellView* indices,
                    std::int64_t offset, std::span<const std::byte> in) {
  const std::int64_t end = offset + std::ssize(in);
  TESSERA_RETURN_IF_ERROR(queue.Launch(gpu::UnpackWork({AddressOf(in), offset}, to, end)));
  if (indices == nullptr) return OkStatus();
  return queue.Launch(gpu::DigestWork(to, *indices, offset, end, queue.SlotAddress(0)));
}

}  // namespace

Result<std::uint64_t> CudaMemory::Pack(const engine::CellView& from,
                                       const engine::CellView* indices, std::int64_t offset,
                                       std::span<std::byte> out) const {
  if (out.empty()) return 0;
  Parts parts(*device_, indices != nullptr);
  if (IsPinned(out)) {
    TESSERA_TRY(Parts::Part* const part, parts.Next());
    TESSERA_RETURN_IF_ERROR(LaunchPack(*part->queue, from, indices, offset, out));
    return parts.Finish();
  }
  while (!out.empty()) {
    TESSERA_TRY(Parts::Part* const part, parts.Next());
    TESSERA_RETURN_IF_ERROR(Parts::Collect(*part));
    part->out = out.first(std::min(out.size(), part->queue->staging().size()));
    const auto staged = part->queue->staging().first(part->out.size());
    TESSERA_RETURN_IF_ERROR(LaunchPack(*part->queue, from, indices, offset, staged));
    out = out.subspan(staged.size());
    offset += std::ssize(staged);
  }
  return parts.Finish();
}

Result<std::uint64_t> CudaMemory::Unpack(const engine::CellView& to,
                                         const engine::CellView* indices, std::int64_t offset,
                                         std::span<const std::byte> in) const {
  if (in.empty()) return 0;
  Parts parts(*device_, indices != nullptr);
  if (IsPinned(in)) {
    TESSERA_TRY(Parts::Part* const part, parts.Next());
    TESSERA_RETURN_IF_ERROR(LaunchUnpack(*part->queue, to, indices, offset, in));
    return parts.Finish();
  }
  while (!in.empty()) {
    TESSERA_TRY(Parts::Part* const part, parts.Next());
    TESSERA_RETURN_IF_ERROR(part->queue->Wait());
    const auto bytes = in.first(std::min(in.size(), part->queue->staging().size()));
    const auto staged = part->queue->staging().first(bytes.size());
    std::memcpy(staged.data(), bytes.data(), bytes.size());
    TESSERA_RETURN_IF_ERROR(LaunchUnpack(*part->queue, to, indices, offset, staged));
    in = in.subspan(bytes.size());
    offset += std::ssize(bytes);
  }
  return parts.Finish();
}

Result<engine::HostBuffer> CudaMemory::TakeHostBuffer(std::size_t size) const {
  /// The buffer goes first: its memory ends with the device.
  struct Owner {
    std::shared_ptr<const CudaDevice> device;
    std::shared_ptr<void> buffer;
  };
  TESSERA_TRY(engine::HostBuffer buffer, device_->TakeHostBuffer(size));
  buffer.owner = std::make_shared<Owner>(Owner{device_, std::move(buffer.owner)});
  return buffer;
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
  TESSERA_TRY(const CudaDevice::QueuePtr queue, device_->TakeQueue());
  const std::span<std::byte> host = queue->staging();
  std::uint64_t digest = 0;
  for (std::int64_t offset = 0; offset < from.size_bytes();) {
    const std::int64_t bytes = std::min(from.size_bytes() - offset, std::ssize(host));
    const auto part = host.first(static_cast<std::size_t>(bytes));
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
