// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// One device's memory: a memfd that its owner, the agents of one host and one rank map at the same
/// time. The bytes are those of FORMAT.md.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "engine/store/arena_format.h"
#include "ptc/base/result.h"

namespace tessera::engine {

/// A mapping of a whole arena. Move-only; unmaps at its end. Copies nothing: like a span, a const
/// Arena gives access to memory that is not const. Threads: the members may be called from any
/// thread; who may write which word stands in arena_format.h.
class Arena {
 public:
  /// Makes an empty arena: job 0, epoch 0, no pieces. Every page is touched here, once, so that no
  /// copy meets a page fault and lack of memory is an error now instead of a signal later. The size
  /// is sealed. The caller owns the descriptor (close-on-exec).
  /// \error kInvalidArgument if `capacity` is not a multiple of 4096 above kArenaDataOffset;
  ///     kResourceExhausted naming the bytes where the machine has not got them.
  static Result<int> CreateMemfd(const std::string& name, std::int64_t capacity);

  /// Maps the arena behind `fd`, which may be closed afterwards.
  /// \error kDataLoss for a wrong magic or a size that is not the header's; kUnimplemented for
  ///     another version; kInvalidArgument for a file that cannot be mapped.
  static Result<Arena> Map(int fd, bool writable);

  Arena(Arena&& other) noexcept;
  Arena& operator=(Arena&& other) noexcept;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena();

  /// Of the whole arena, header and tables included.
  std::int64_t capacity() const { return static_cast<std::int64_t>(bytes_.size()); }
  bool writable() const { return writable_; }
  /// Storing to it faults where the mapping is read-only.
  ArenaHeader& header() const { return *reinterpret_cast<ArenaHeader*>(bytes_.data()); }
  /// The byte at `offset` from the start of the arena. \pre 0 <= offset && offset < capacity()
  std::byte* data(std::int64_t offset) const;
  /// \pre slot is 0 or 1
  std::span<std::byte> table_slot(int slot) const;

 private:
  Arena(std::span<std::byte> bytes, bool writable) : bytes_(bytes), writable_(writable) {}
  std::span<std::byte> bytes_;
  bool writable_ = false;
};

}  // namespace tessera::engine
