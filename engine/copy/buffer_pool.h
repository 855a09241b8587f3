// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Reused host memory for bytes that are on their way. New memory would cost more than the copy
/// into it: page faults, and a call of the driver where a device is to reach it.

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "ptc/base/result.h"

namespace tessera::engine {

/// Goes back to its pool when nobody holds `owner` any more.
struct HostBuffer {
  std::span<std::byte> bytes;
  std::shared_ptr<void> owner;
};

/// \threadsafety Any thread. Buffers may be held for longer than the pool.
class BufferPool : public std::enable_shared_from_this<BufferPool> {
 public:
  using Make = std::function<Result<HostBuffer>(std::size_t size)>;

  /// \param make of memory that is freed with the last owner
  explicit BufferPool(Make make) : make_(std::move(make)) {}

  /// Of exactly `size` bytes, whose values are left from an earlier use.
  /// \error of `make`
  Result<HostBuffer> Take(std::size_t size);

 private:
  static constexpr std::size_t kKept = 32;

  void Put(HostBuffer buffer);

  const Make make_;
  std::mutex mutex_;
  std::vector<HostBuffer> free_;  // under mutex_
};

}  // namespace tessera::engine
