// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The bytes of the pieces of a device, of which the host may not have an address. Whatever moves,
/// compares or keeps state reaches it through DeviceCell, so that it works alike on memory of the
/// host and on memory of a GPU.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "engine/copy/buffer_pool.h"
#include "engine/copy/cell_view.h"
#include "engine/copy/fused.h"
#include "ptc/base/result.h"

namespace tessera::engine {

/// Arenas store these numbers: never renumber.
enum class MemoryKind : std::uint8_t { kHost = 0, kCuda = 1 };
/// `host` or `CUDA`.
std::string_view ToString(MemoryKind kind);

class DeviceCell;

/// The operations of one kind of memory. A CellView that is passed to it has addresses of this
/// memory, of which some kinds have none that the host could use. All calls block until the bytes
/// are in place. `indices` is from IndicesOf, of the same cell; functions that take a pointer to it
/// compute no digest, and return 0, if it is null.
/// \threadsafety Several threads may use disjoint bytes.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  virtual ~DeviceMemory() = default;

  virtual MemoryKind kind() const = 0;
  /// Whether host code of this process may use its addresses.
  virtual bool IsHostAccessible() const = 0;
  /// The number of the device in this process; -1: the host.
  virtual int device() const = 0;

  /// Gathers bytes [offset, offset + out.size()) of the packed cell into host memory and returns
  /// their digest there.
  /// \pre the range lies inside the cell
  /// \error kUnavailable naming device and call, if the device fails
  virtual Result<std::uint64_t> Pack(const CellView& from, const CellView* indices,
                                     std::int64_t offset, std::span<std::byte> out) const = 0;
  /// Scatters host memory to bytes [offset, offset + in.size()) of the packed cell and returns the
  /// digest of the bytes in place.
  /// \pre, \error as Pack
  virtual Result<std::uint64_t> Unpack(const CellView& to, const CellView* indices,
                                       std::int64_t offset,
                                       std::span<const std::byte> in) const = 0;
  /// Reused host memory for Pack and Unpack. Other memory costs some kinds a copy on the host.
  /// \error as Pack; kResourceExhausted
  virtual Result<HostBuffer> TakeHostBuffer(std::size_t size) const = 0;
  /// \error as Pack
  virtual Result<std::uint64_t> Digest(const CellView& from, const CellView& indices) const = 0;
  /// As CopyCellAndDigest, from this memory to memories of the same kind. A kind may digest the
  /// bytes of the source as it copies them.
  /// \error as Pack
  virtual Result<CopyDigests> Copy(std::span<const DeviceCell> to, const CellView& from,
                                   const CellView& indices,
                                   const std::function<void()>& source_digested) const = 0;
  /// Sets `size` bytes from `address` on to zero.
  /// \error as Pack
  virtual Status Clear(std::byte* address, std::int64_t size) const = 0;
  /// Waits until everything that this process has begun on the device has ended.
  /// \error as Pack
  virtual Status Finish() const = 0;
  /// Makes sure that the first access to these bytes costs no more than a later one. Advice only.
  virtual void MakePresent(std::byte* address, std::int64_t size) const = 0;
};

/// Memory of this process.
const DeviceMemory& HostMemory();

/// A cell inside a piece of a device.
class DeviceCell {
 public:
  /// In host memory.
  DeviceCell(const CellView& view) : DeviceCell(HostMemory(), view) {}  // NOLINT(*-explicit-*)
  /// \param memory outlives the cell
  DeviceCell(const DeviceMemory& memory, const CellView& view) : memory_(&memory), view_(view) {}

  const DeviceMemory& memory() const { return *memory_; }
  /// Its addresses in memory().
  const CellView& view() const { return view_; }
  std::int64_t size_bytes() const { return view_.size_bytes(); }
  /// Its bytes [offset, offset + size), if they are one range of host memory; otherwise empty.
  /// \pre 0 <= offset, 0 <= size, offset + size <= size_bytes()
  std::span<std::byte> InPlace(std::int64_t offset, std::int64_t size) const;

  /// As the functions of DeviceMemory.
  Result<std::uint64_t> Pack(std::int64_t offset, std::span<std::byte> out,
                             const CellView* indices = nullptr) const {
    return memory_->Pack(view_, indices, offset, out);
  }
  Result<std::uint64_t> Unpack(std::int64_t offset, std::span<const std::byte> in,
                               const CellView* indices = nullptr) const {
    return memory_->Unpack(view_, indices, offset, in);
  }
  Result<std::uint64_t> Digest(const CellView& indices) const {
    return memory_->Digest(view_, indices);
  }

 private:
  const DeviceMemory* memory_;
  CellView view_;
};

/// Copies a cell to each of `to` and compares as DeviceMemory::Copy does.
/// \pre all are of the same kind of memory
Result<CopyDigests> CopyCellAndDigest(std::span<const DeviceCell> to, const DeviceCell& from,
                                      const CellView& indices,
                                      const std::function<void()>& source_digested = {});

}  // namespace tessera::engine
