// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The memory of one node's share of a view: a memfd that the agent fills and that clients on the
/// same host map read-only. FORMAT.md, "View memory", specifies the bytes.

#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <string>

#include "ptc/base/result.h"

namespace tessera::engine {

/// The header page, which the cells follow.
inline constexpr std::size_t kViewHeaderBytes = 4096;

/// Identifies a share.
struct ViewStamp {
  std::uint64_t view = 0;
  std::int64_t epoch = 0;
  std::int64_t timeline = 0;
  std::int64_t step = 0;
  std::uint64_t layout_hash = 0;
  std::uint64_t plan_hash = 0;  // ViewPlan::hash()
  std::int64_t node = 0;
  friend bool operator==(const ViewStamp&, const ViewStamp&) = default;
};

/// Move-only; the destructor unmaps and closes.
/// \threadsafety Several threads may read at once.
class ViewMemory {
 public:
  /// Makes `bytes` of memory with MakeSealedMemory.
  /// \error kInvalidArgument if `bytes` is not a multiple of kViewHeaderBytes above 0; otherwise as
  ///     MakeSealedMemory
  static Result<ViewMemory> Create(const std::string& name, std::int64_t bytes,
                                   const std::stop_token& stop = {});
  /// Maps memory from Create read-only. `fd` may be closed afterwards.
  /// \error kDataLoss if size or header differ from the expected ones, or the size is not sealed;
  ///     kUnimplemented for another version; kUnavailable for a file that cannot be mapped
  static Result<ViewMemory> Map(int fd, std::int64_t bytes, const ViewStamp& expected);

  /// As Map, and takes over `fd`, which is closed on an error too.
  static Result<ViewMemory> Adopt(int fd, std::int64_t bytes, const ViewStamp& expected);

  ViewMemory(ViewMemory&& other) noexcept;
  ViewMemory& operator=(ViewMemory&& other) noexcept;
  ViewMemory(const ViewMemory&) = delete;
  ViewMemory& operator=(const ViewMemory&) = delete;
  ~ViewMemory();

  std::int64_t size_bytes() const { return static_cast<std::int64_t>(bytes_.size()); }
  /// \pre 0 <= offset && offset < size_bytes()
  std::byte* data(std::int64_t offset) const { return bytes_.data() + offset; }
  /// The memfd, which this object owns; -1 if Map made this.
  int fd() const { return fd_; }
  /// Writes the header, which marks the cells as complete.
  /// \pre Create made this
  void Stamp(const ViewStamp& stamp);

 private:
  ViewMemory(std::span<std::byte> bytes, int fd) : bytes_(bytes), fd_(fd) {}
  std::span<std::byte> bytes_;
  int fd_ = -1;
};

}  // namespace tessera::engine
