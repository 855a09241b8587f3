// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The memory of one device: a memfd that the keeper, the agents of one host and one rank map at
/// the same time. FORMAT.md specifies the bytes.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "engine/copy/device_memory.h"
#include "engine/store/arena_format.h"
#include "ptc/base/result.h"

namespace tessera::engine {

/// A part of an arena. The bytes stay mapped as long as the arena and this object live.
struct ArenaBytes {
  std::span<std::byte> bytes = {};
  std::shared_ptr<const void> mapping = {};  // null: part of the arena's own mapping
};

/// A mapping of a whole arena. Move-only; the destructor unmaps. Like a span, a const Arena gives
/// access to memory that is not const.
/// \threadsafety Any thread. arena_format.h lists the writer of each header word.
class Arena {
 public:
  /// Makes an empty arena (job 0, epoch 0, no tables) in memory from MakeSealedMemory. The caller
  /// owns the descriptor.
  /// \param made is called with the bytes made since its last call
  /// \error kInvalidArgument if `capacity` is not a multiple of 4096 above kArenaDataOffset;
  ///     otherwise as MakeSealedMemory
  static Result<int> CreateMemfd(const std::string& name, std::int64_t capacity,
                                 const std::function<void(std::int64_t)>& made = {});

  /// The same without memory: a page exists once it is written. For arenas with no bytes of pieces:
  /// of simulations, and of devices that have memory of their own (`kind`). They cost no more than
  /// their control page and their tables.
  static Result<int> CreateSparse(const std::string& name, std::int64_t capacity,
                                  MemoryKind kind = MemoryKind::kHost);

  /// Maps the arena behind `fd`, which may be closed afterwards.
  /// \error kDataLoss for a wrong magic or a size that differs from the header's; kUnimplemented
  ///     for another version; kInvalidArgument for a file that cannot be mapped
  static Result<Arena> Map(int fd, bool writable);
  /// Maps the control page only. From and table_slot map kWindowBytes for as long as their result
  /// lives: thousands of large arenas do not fit into an address space. `fd` must outlive the
  /// arena.
  /// \error as Map
  static Result<Arena> MapWindows(int fd);

  Arena(Arena&& other) noexcept;
  Arena& operator=(Arena&& other) noexcept;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena();

  /// Bytes of the whole arena, with the control page and the tables.
  std::int64_t capacity() const { return capacity_; }
  bool writable() const { return writable_; }
  /// A store into it faults if the mapping is read-only.
  ArenaHeader& header() const { return *reinterpret_cast<ArenaHeader*>(bytes_.data()); }
  /// Where the pieces lie: MemoryKind::kHost, in the arena itself, or in the memory of a device.
  MemoryKind memory_kind() const {
    return static_cast<MemoryKind>(header().memory_kind.load(std::memory_order_acquire));
  }
  /// The memory of a device with another kind than kHost, which this process has mapped.
  /// \param address of the byte at offset 0 of the arena
  void Attach(std::shared_ptr<const DeviceMemory> memory, std::byte* address);
  /// Whether the bytes of pieces can be reached: kHost, or Attach was called.
  bool has_memory() const;
  /// \pre has_memory()
  const DeviceMemory& memory() const { return memory_ ? *memory_ : HostMemory(); }

  /// The address in memory() of the byte at `offset` from the start of the arena.
  /// \pre 0 <= offset && offset < capacity(); has_memory(); with MapWindows, Attach was called
  std::byte* AddressOf(std::int64_t offset) const;
  /// A cell of the piece at `offset`.
  /// \pre as AddressOf; Contains(piece, cell)
  DeviceCell CellAt(std::int64_t offset, const ptc::Box& piece, const ptc::Box& cell,
                    std::int64_t element_bytes) const {
    return {memory(), CellView(piece, cell, element_bytes, AddressOf(offset))};
  }
  /// The bytes from the start of the slot's table to the end of the arena, or an empty span if the
  /// header names no table or an offset outside the arena.
  /// \pre slot is 0 or 1
  ArenaBytes table_slot(int slot) const;
  /// The bytes from `offset` to the end of the arena; with MapWindows at most kWindowBytes, and
  /// empty if they cannot be mapped.
  /// \pre 0 <= offset && offset < capacity()
  ArenaBytes From(std::int64_t offset) const;

  static constexpr std::int64_t kWindowBytes = std::int64_t{16} << 20;

 private:
  Arena(std::span<std::byte> bytes, std::int64_t capacity, bool writable);
  Status Check() const;

  std::span<std::byte> bytes_;  // mapped from the start: all, or the control page
  std::int64_t capacity_ = 0;
  bool writable_ = false;
  std::optional<int> window_fd_;                // nullopt: all is mapped
  std::shared_ptr<const DeviceMemory> memory_;  // null: that of the host
  std::byte* memory_address_ = nullptr;
};

}  // namespace tessera::engine
