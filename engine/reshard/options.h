// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The options of a reshard, and the report about one.

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

/// The least memory_bytes in all, and per thread.
inline constexpr std::int64_t kLeastMemory = std::int64_t{16} << 20;
inline constexpr std::int64_t kLeastThreadMemory = std::int64_t{4} << 20;

/// The size of a tile where memory allows it.
inline constexpr std::int64_t kTileBytes = std::int64_t{4} << 20;

/// Converts the tensors whose names match `match` (ptc/rules/name_pattern.h) to another dtype.
struct DTypeRule {
  std::string match;  // empty: every floating-point tensor
  ptc::DType dtype = ptc::DType::kF32;
};

struct Options {
  checkpoint::Format format = checkpoint::Format::kSafetensors;  // one that can be written
  checkpoint::FileLimits files = {};                             // for kHuggingFace
  std::optional<ptc::Layout> layout = {};  // set if and only if the format is kShardedSafetensors
  std::vector<DTypeRule> dtypes = {};      // the last rule that matches counts
  /// The size of all buffers. It and `threads` decide the size of tiles, never the result. Tables
  /// of names and boxes are not included.
  std::int64_t memory_bytes = std::int64_t{1} << 30;
  int threads = 2;           // 1 to kMostThreads
  bool replace = false;      // replace an existing destination
  bool must_resume = false;  // fail if there is no unfinished run
  bool restart = false;      // discard an unfinished run
  /// Verify the checksums that the source states (CheckSums) before the first tile, and read back
  /// everything that was written before the final rename.
  bool verify = false;
  /// The largest tile, and the bytes of source tensors between two commits to the journal.
  std::int64_t tile_bytes = kTileBytes;
  std::int64_t commit_bytes = std::int64_t{256} << 20;
  /// The options above that decide what is written, as the user spells them. Two runs with equal
  /// spellings, sources and plans are the same run.
  std::map<std::string, std::string> spelling = {};

  Watch watch = {};
  std::function<void(const std::string& line)> note = {};  // "resuming at 62 %"
};

struct Report {
  std::int64_t num_tensors = 0;
  std::int64_t num_files = 0;
  std::int64_t num_converted = 0;  // tensors whose dtype differs from the source
  std::int64_t bytes_read = 0;     // by this run
  std::int64_t bytes_written = 0;  // by this run, headers included
  std::int64_t bytes_resumed = 0;  // of the source, read by earlier runs
  std::uint64_t digest = 0;        // of the destination's tensors
};

}  // namespace tessera::reshard
