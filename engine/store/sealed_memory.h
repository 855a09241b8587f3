// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Anonymous memory that several processes map: a memfd with every page present and its size
/// sealed.

#include <cstddef>
#include <cstdint>
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

/// Makes `bytes` of memory and touches every page, so that no copy meets a page fault later and a
/// lack of memory is an error here instead of a signal later. The seals keep the size: no holder of
/// the descriptor can cut a mapping of another process short.
/// \param name appears in /proc/PID/maps and in errors
/// \pre `bytes` > 0
/// \error kUnavailable without memfd; kResourceExhausted naming the bytes if the machine lacks
///     them; kCancelled once `stop` is requested
Result<SealedMemory> MakeSealedMemory(const std::string& name, std::int64_t bytes,
                                      const std::stop_token& stop = {});

}  // namespace tessera::engine
