// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Reads ahead of sequential reads, so that remote data is available when it is requested.

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "agents/data/wrapped_files.h"
#include "engine/data/byte_source.h"

namespace tessera::agents {

struct ReadAheadOptions {
  std::int64_t block_bytes = 1 << 20;
  int blocks_ahead = 4;         // of one source
  std::size_t max_blocks = 16;  // of all sources; the least recently requested is dropped first
};

/// One thread for all sources. If a read begins at the end of the previous one, the blocks after it
/// are fetched. A read waits for a block that is being fetched. An error of a fetch ahead is
/// dropped, because the read that needs the block fetches it again.
/// \threadsafety Any thread. Sources share ownership, so it lives as long as they do.
class ReadAhead {
 public:
  explicit ReadAhead(ReadAheadOptions options = {});
  ~ReadAhead();
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  /// \param stream_end in and out: where the last read of this source ended; guarded here
  Status Read(const engine::ByteSourcePtr& source, std::int64_t& stream_end, std::int64_t offset,
              std::span<std::byte> out);

 private:
  enum class State : std::uint8_t { kWanted, kLoading, kReady, kFailed };
  struct Slot {
    engine::ByteSourcePtr source;
    std::int64_t begin = 0;
    State state = State::kWanted;
    std::vector<std::byte> bytes = {};
  };
  using SlotPtr = std::shared_ptr<Slot>;

  SlotPtr FindLocked(const engine::ByteSource* source, std::int64_t begin) const;
  void WantLocked(const engine::ByteSourcePtr& source, std::int64_t offset);
  /// Fetches the block of a wanted slot. Releases the lock meanwhile; the caller holds the slot.
  void Load(Slot& slot, std::unique_lock<std::mutex>& lock);
  void Run(const std::stop_token& stop);

  const ReadAheadOptions options_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::list<SlotPtr> slots_;  // guarded by mutex_; youngest last
  std::jthread thread_;       // last: it uses all of the above
};

/// Opens sources that read ahead.
class AheadFiles final : public WrappedFiles {
 public:
  AheadFiles(std::shared_ptr<const engine::SourceOpener> files, std::shared_ptr<ReadAhead> ahead)
      : WrappedFiles(std::move(files)), ahead_(std::move(ahead)) {}

 private:
  engine::ByteSourcePtr Wrap(engine::ByteSourcePtr source) const override;
  const std::shared_ptr<ReadAhead> ahead_;
};

}  // namespace tessera::agents
