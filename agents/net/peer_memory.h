// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The memory of another process of the same host, read-only: how a destination reads a peer's
/// arena where both nodes share one host.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "ptc/base/result.h"

namespace tessera::agents {

/// A read-only mapping of a whole file, such as a memfd that another process holds open. It stays
/// valid after that process has ended.
class PeerMemory {
 public:
  /// Maps `path`, for example "/proc/4711/fd/9", up to its size now.
  /// \error kNotFound if there is no such process or descriptor; kFailedPrecondition if it may not
  ///     be read or is empty. The text names the process and the path.
  static Result<PeerMemory> Map(const std::string& path);
  /// The same, by process and descriptor.
  static Result<PeerMemory> Map(std::int64_t pid, int fd);
  PeerMemory(PeerMemory&& other) noexcept;
  PeerMemory& operator=(PeerMemory&& other) noexcept;
  ~PeerMemory();

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  explicit PeerMemory(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::span<const std::byte> bytes_;
};

}  // namespace tessera::agents
