// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A cache of blocks of remote data on the local disk. Its size is limited, and the processes of a
/// machine share it.

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>

#include "agents/data/wrapped_files.h"
#include "engine/data/byte_source.h"

namespace tessera::agents {

struct BlockCacheOptions {
  std::string folder;  // created if missing
  std::int64_t limit_bytes = std::int64_t{16} << 30;
  std::int64_t block_bytes = 4 << 20;
  /// Reports once that blocks cannot be kept. Data is then read without the cache.
  std::function<void(const std::string& line)> warn = {};
};

/// The key of a block is made of name, version and size of its source, so a source that changed has
/// other blocks. Above the limit the least recently used blocks are removed. Several processes
/// together may exceed it by a sixteenth each, until one of them checks again.
///
/// If blocks cannot be written (a full disk), reads fetch only what was requested from the source,
/// and writing is tried again a minute later.
/// \threadsafety Any thread. Of several threads that need a block, one fetches it.
class BlockCache {
 public:
  explicit BlockCache(BlockCacheOptions options);

  /// \pre 0 <= offset, offset + out.size() <= source.size_bytes()
  /// \error of the source
  Status Read(const engine::ByteSource& source, std::int64_t offset, std::span<std::byte> out);

 private:
  using Clock = std::chrono::steady_clock;
  struct Block {
    std::string path;
    std::uint64_t key = 0;
    std::int64_t begin = 0;  // in the source
    std::int64_t size_bytes = 0;
  };
  Block BlockAt(const engine::ByteSource& source, std::int64_t offset) const;
  Status ReadPart(const engine::ByteSource& source, const Block& block, std::int64_t begin,
                  std::span<std::byte> out);
  Status Fetch(const engine::ByteSource& source, const Block& block, std::int64_t begin,
               std::span<std::byte> out);
  void Keep(const Block& block, std::span<const std::byte> bytes);
  void Evict();
  bool IsStoring();

  const BlockCacheOptions options_;
  std::mutex mutex_;
  std::condition_variable fetched_;
  // Guarded by mutex_.
  std::set<std::uint64_t> in_flight_;
  std::int64_t used_bytes_ = 0;    // seen last, and written since
  std::int64_t unseen_bytes_ = 0;  // written since
  Clock::time_point storing_from_{};
  bool has_warned_ = false;
};

/// Opens sources that are read through a cache.
class CachedFiles final : public WrappedFiles {
 public:
  CachedFiles(std::shared_ptr<const engine::SourceOpener> files, std::shared_ptr<BlockCache> cache)
      : WrappedFiles(std::move(files)), cache_(std::move(cache)) {}

 private:
  engine::ByteSourcePtr Wrap(engine::ByteSourcePtr source) const override;
  const std::shared_ptr<BlockCache> cache_;
};

}  // namespace tessera::agents
