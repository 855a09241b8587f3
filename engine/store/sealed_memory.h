// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Anonymous memory that several processes map: a memfd with every page allocated and its size
/// sealed.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <string>

#include "ptc/base/result.h"

namespace tessera::engine {

/// The caller owns both: it closes `fd` (close-on-exec) and unmaps `bytes`.
struct SealedMemory {
  int fd = -1;
  std::span<std::byte> bytes;  // mapped shared and writable, all zero
};

struct SealedMemoryOptions {
  std::stop_token stop = {};                          // read after every chunk of 64 MiB
  std::function<void(std::int64_t bytes)> made = {};  // called after every chunk with its size
  /// Zero and map every page here, so that copies of this process meet no page fault. False: only
  /// allocate the pages, for memory that other processes use. That takes half the time (median of
  /// five for 512 MiB: 0.23 s instead of 0.51 s); the first touch of a page zeroes it.
  bool touch = true;
};

/// Makes `bytes` of memory and allocates every page, so that a lack of memory is an error here
/// instead of a signal later. The seals keep the size: no holder of the descriptor can cut a
/// mapping of another process short.
/// \param name appears in /proc/PID/maps and in errors
/// \pre `bytes` > 0
/// \error kUnavailable without memfd; kResourceExhausted naming the bytes if the machine lacks
///     them; kCancelled once `stop` is requested
Result<SealedMemory> MakeSealedMemory(const std::string& name, std::int64_t bytes,
                                      const SealedMemoryOptions& options = {});

/// Opens memory of another process, read-only, by the path of its descriptor. The path is a claim
/// of that process: what it leads to is checked before anything is read, and opening it cannot
/// block.
/// \return a descriptor that the caller closes
/// \error kInvalidArgument for a path that is not /proc/PID/fd/N, or for anything but sealed memory;
///     kUnavailable if it cannot be opened
Result<int> OpenSealedMemory(const std::string& path);

}  // namespace tessera::engine
