// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The memory of one node's share of a view: a memfd that its agent fills and that clients of the
/// same machine map read-only. The bytes are those of FORMAT.md, "View memory".

#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <string>

#include "ptc/base/result.h"

namespace tessera::engine {

/// The first page; cells follow.
inline constexpr std::size_t kViewHeaderBytes = 4096;

/// What a share is of.
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

/// Move-only; unmaps and closes at its end. \threadsafety Reads from any thread, several at once.
class ViewMemory {
 public:
  /// Makes `bytes` of memory, every page touched, the size sealed.
  /// \error kInvalidArgument if `bytes` is not a multiple of kViewHeaderBytes above 0;
  ///     kResourceExhausted naming the bytes where the machine has not got them
  static Result<ViewMemory> Create(const std::string& name, std::int64_t bytes,
                                   const std::stop_token& stop = {});
  /// Maps what Create made, read-only. `fd` may be closed afterwards.
  /// \error kDataLoss where size or header are not the expected ones, or the size is not sealed;
  ///     kUnimplemented for another version; kUnavailable for a file that cannot be mapped
  static Result<ViewMemory> Map(int fd, std::int64_t bytes, const ViewStamp& expected);

  ViewMemory(ViewMemory&& other) noexcept;
  ViewMemory& operator=(ViewMemory&& other) noexcept;
  ViewMemory(const ViewMemory&) = delete;
  ViewMemory& operator=(const ViewMemory&) = delete;
  ~ViewMemory();

  std::int64_t size_bytes() const { return static_cast<std::int64_t>(bytes_.size()); }
  /// \pre 0 <= offset && offset < size_bytes()
  std::byte* data(std::int64_t offset) const { return bytes_.data() + offset; }
  /// Of the memfd, -1 where it was mapped. Stays the object's.
  int fd() const { return fd_; }
  /// Writes the header: the cells are complete. \pre made by Create
  void Stamp(const ViewStamp& stamp);

 private:
  ViewMemory(std::span<std::byte> bytes, int fd) : bytes_(bytes), fd_(fd) {}
  std::span<std::byte> bytes_;
  int fd_ = -1;
};

}  // namespace tessera::engine
