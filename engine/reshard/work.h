// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Numbered pieces of work on several threads, watched from the thread that asked for them.

#include <atomic>
#include <cstdint>
#include <functional>

#include "ptc/base/result.h"

namespace tessera::reshard {

struct Progress {
  std::int64_t bytes_done = 0;
  std::int64_t bytes_total = 0;
};
/// Called on the calling thread before the first piece, about ten times a second, and once at the
/// end; false asks to stop.
using Watch = std::function<bool(const Progress&)>;

/// Most threads that work is spread over.
inline constexpr int kMostThreads = 64;

/// How far the work is; a piece adds to it as its bytes are done.
struct Meter {
  std::atomic<std::int64_t> bytes_done{0};
  std::int64_t bytes_total = 0;
};

/// Calls `piece(worker, i)` once for each i in [0, count), in ascending order of their beginning,
/// on `threads` threads numbered from 0. After an error or a stop no further piece begins; those
/// under way are finished. \error the first one of a piece; kCancelled where `watch` returned false
Status RunPieces(std::int64_t count, int threads, const Meter& meter, const Watch& watch,
                 const std::function<Status(int worker, std::int64_t i)>& piece);

}  // namespace tessera::reshard
