// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The memory of one device: a memfd that the keeper, the agents of one host and one rank map at
/// the same time. FORMAT.md specifies the bytes.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "engine/store/arena_format.h"
#include "ptc/base/result.h"

namespace tessera::engine {

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

  /// Maps the arena behind `fd`, which may be closed afterwards.
  /// \error kDataLoss for a wrong magic or a size that differs from the header's; kUnimplemented
  ///     for another version; kInvalidArgument for a file that cannot be mapped
  static Result<Arena> Map(int fd, bool writable);

  Arena(Arena&& other) noexcept;
  Arena& operator=(Arena&& other) noexcept;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena();

  /// Bytes of the whole arena, with the control page and the tables.
  std::int64_t capacity() const { return static_cast<std::int64_t>(bytes_.size()); }
  bool writable() const { return writable_; }
  /// A store into it faults if the mapping is read-only.
  ArenaHeader& header() const { return *reinterpret_cast<ArenaHeader*>(bytes_.data()); }
  /// The byte at `offset` from the start of the arena.
  /// \pre 0 <= offset && offset < capacity()
  std::byte* data(std::int64_t offset) const;
  /// The bytes from the start of the slot's table to the end of the arena, or an empty span if the
  /// header names no table or an offset outside the arena.
  /// \pre slot is 0 or 1
  std::span<std::byte> table_slot(int slot) const;

 private:
  Arena(std::span<std::byte> bytes, bool writable) : bytes_(bytes), writable_(writable) {}
  std::span<std::byte> bytes_;
  bool writable_ = false;
};

}  // namespace tessera::engine
