// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Runs numbered pieces of work on several threads while the calling thread reports progress.

#include <atomic>
#include <cstdint>
#include <functional>

#include "ptc/base/result.h"

namespace tessera::reshard {

struct Progress {
  std::int64_t bytes_done = 0;
  std::int64_t bytes_total = 0;
};
/// Called on the calling thread: before the first piece, about ten times a second, and at the end.
/// Returning false requests a stop.
using Watch = std::function<bool(const Progress&)>;

/// The limit on the number of threads.
inline constexpr int kMostThreads = 64;

/// The progress of the work. A piece adds its bytes when they are done.
struct Meter {
  std::atomic<std::int64_t> bytes_done{0};
  std::int64_t bytes_total = 0;
};

/// Calls `piece(worker, i)` once for each i in [0, count) on `threads` threads, which are numbered
/// from 0. Pieces start in ascending order. After an error or a stop no further piece starts, and
/// the call returns when those in progress have ended.
/// \error the first error of a piece; kCancelled if `watch` returned false
Status RunPieces(std::int64_t count, int threads, const Meter& meter, const Watch& watch,
                 const std::function<Status(int worker, std::int64_t i)>& piece);

}  // namespace tessera::reshard
