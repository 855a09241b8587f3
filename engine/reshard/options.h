// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What a reshard is asked to do, and what it did.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/safetensors/piece.h"
#include "engine/reshard/work.h"
#include "ptc/dtype.h"
#include "ptc/layout.h"

namespace tessera::reshard {

/// Least memory_bytes in all, and a thread.
inline constexpr std::int64_t kLeastMemory = std::int64_t{16} << 20;
inline constexpr std::int64_t kLeastThreadMemory = std::int64_t{4} << 20;

/// Bytes of a tensor that are read and written at once, where memory allows.
inline constexpr std::int64_t kTileBytes = std::int64_t{4} << 20;

/// Tensors whose names fit `match` (ptc/rules/name_pattern.h) get another dtype.
struct DTypeRule {
  std::string match;  // empty: every floating-point tensor
  ptc::DType dtype = ptc::DType::kF32;
};

struct Options {
  checkpoint::Format format = checkpoint::Format::kSafetensors;  // one of those that are written
  checkpoint::FileLimits files = {};                             // kHuggingFace
  std::optional<ptc::Layout> layout = {};  // stands exactly for kShardedSafetensors
  std::vector<DTypeRule> dtypes = {};      // the last one that fits counts
  /// Of all buffers. What is read and written at once depends on it and on `threads`, the result
  /// does not. Tables of names and boxes come on top.
  std::int64_t memory_bytes = std::int64_t{1} << 30;
  int threads = 2;           // 1 to kMostThreads
  bool replace = false;      // a destination that is there
  bool must_resume = false;  // an unfinished run has to be there
  bool restart = false;      // drops an unfinished run
  /// Checks the sums that the source states (CheckSums) before the first tile, and reads all that
  /// was written before it gets its name.
  bool verify = false;
  /// Most bytes of a tile, and written bytes between two entries of the journal.
  std::int64_t tile_bytes = kTileBytes;
  std::int64_t commit_bytes = std::int64_t{256} << 20;
  /// How the user spells the options above that decide what is written: two runs with equal texts,
  /// sources and plans are the same run.
  std::map<std::string, std::string> spelling = {};

  Watch watch = {};
  std::function<void(const std::string& line)> note = {};  // "resuming at 62 %"
};

struct Report {
  std::int64_t num_tensors = 0;
  std::int64_t num_files = 0;
  std::int64_t num_converted = 0;  // tensors of another dtype than in the source
  std::int64_t bytes_read = 0;     // by this run
  std::int64_t bytes_written = 0;  // by this run, headers included
  std::int64_t bytes_resumed = 0;  // of the source, read by runs before
  std::uint64_t digest = 0;        // of the destination's tensors
};

}  // namespace tessera::reshard
