// SPDX-License-Identifier: Apache-2.0
#include "engine/copy/device_memory.h"

#include <sys/mman.h>

#include <cstring>
#include <vector>

#include "ptc/base/check.h"

namespace tessera::engine {
namespace {

class MemoryOfHost : public DeviceMemory {
 public:
  MemoryKind kind() const override { return MemoryKind::kHost; }
  bool IsHostAccessible() const override { return true; }
  int device() const override { return -1; }
  Status Finish() const override { return OkStatus(); }

  Result<std::uint64_t> Pack(const CellView& from, const CellView* indices, std::int64_t offset,
                             std::span<std::byte> out) const override {
    if (indices != nullptr) return ReadAndDigest(from, *indices, offset, out);
    from.Read(offset, out);
    return 0;
  }
  Result<std::uint64_t> Unpack(const CellView& to, const CellView* indices, std::int64_t offset,
                               std::span<const std::byte> in) const override {
    if (indices != nullptr) return WriteAndDigest(to, *indices, offset, in);
    to.Write(offset, in);
    return 0;
  }
  Result<HostBuffer> TakeHostBuffer(std::size_t size) const override {
    return buffers_->Take(size);
  }
  Result<std::uint64_t> Digest(const CellView& from, const CellView& indices) const override {
    return DigestCell(from, indices);
  }
  Result<CopyDigests> Copy(std::span<const DeviceCell> to, const CellView& from,
                           const CellView& indices,
                           const std::function<void()>& source_digested) const override {
    std::vector<CellView> views;
    for (const DeviceCell& cell : to) views.push_back(cell.view());
    return engine::CopyCellAndDigest(views, from, indices, source_digested);
  }
  Status Clear(std::byte* address, std::int64_t size) const override {
    std::memset(address, 0, static_cast<std::size_t>(size));
    return OkStatus();
  }
  void MakePresent(std::byte* address, std::int64_t size) const override {
#ifdef MADV_POPULATE_WRITE
    constexpr std::uintptr_t kPage = 4096;
    const auto first = reinterpret_cast<std::uintptr_t>(address) / kPage * kPage;
    const auto end = reinterpret_cast<std::uintptr_t>(address) + static_cast<std::uintptr_t>(size);
    ::madvise(reinterpret_cast<void*>(first), end - first, MADV_POPULATE_WRITE);
#endif
  }

 private:
  const std::shared_ptr<BufferPool> buffers_ =
      std::make_shared<BufferPool>([](std::size_t size) -> Result<HostBuffer> {
        const std::shared_ptr<std::byte[]> memory(new std::byte[size]);
        return HostBuffer{{memory.get(), size}, memory};
      });
};

}  // namespace

std::string_view ToString(MemoryKind kind) { return kind == MemoryKind::kHost ? "host" : "CUDA"; }

const DeviceMemory& HostMemory() {
  static const MemoryOfHost memory;
  return memory;
}

std::span<std::byte> DeviceCell::InPlace(std::int64_t offset, std::int64_t size) const {
  TESSERA_DCHECK(0 <= offset && 0 <= size && offset + size <= size_bytes());
  if (memory_->kind() != MemoryKind::kHost || size == 0) return {};
  const std::int64_t run = offset / view_.run_bytes();
  const std::int64_t within = offset % view_.run_bytes();
  if (size > view_.run_bytes() - within) return {};
  return {view_.Run(run) + within, static_cast<std::size_t>(size)};
}

Result<CopyDigests> CopyCellAndDigest(std::span<const DeviceCell> to, const DeviceCell& from,
                                      const CellView& indices,
                                      const std::function<void()>& source_digested) {
  for (const DeviceCell& cell : to) {
    TESSERA_DCHECK(cell.memory().kind() == from.memory().kind());
  }
  return from.memory().Copy(to, from.view(), indices, source_digested);
}

}  // namespace tessera::engine
