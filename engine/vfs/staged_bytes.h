// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Memory of a file that is being written, and the budget that all such memory is taken from.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "ptc/base/result.h"

namespace tessera::engine::vfs {

/// Bytes that staged files may take together. \threadsafety Any thread.
class StagingBudget {
 public:
  explicit StagingBudget(std::int64_t limit) : limit_(limit) {}
  /// \error kResourceExhausted naming bytes, use and limit
  Status Take(std::int64_t bytes);
  void GiveBack(std::int64_t bytes);

 private:
  const std::int64_t limit_;
  std::mutex mutex_;
  std::int64_t used_ = 0;
};

/// The bytes of one file, which grow at their place up to a limit known in advance: what was
/// written is never copied again. Bytes that were never written are 0.
/// \threadsafety One thread at a time.
class StagedBytes {
 public:
  /// Sets address space aside; memory is taken as it is written.
  /// \error kResourceExhausted where the machine has not got so much address space
  static Result<std::unique_ptr<StagedBytes>> Make(std::shared_ptr<StagingBudget> budget,
                                                   std::int64_t limit);
  ~StagedBytes();
  StagedBytes(const StagedBytes&) = delete;
  StagedBytes& operator=(const StagedBytes&) = delete;

  std::span<const std::byte> bytes() const { return {begin_, static_cast<std::size_t>(size_)}; }
  std::int64_t size() const { return size_; }
  /// \error kResourceExhausted naming the limit of the file, or that of the budget; then nothing is
  ///     written
  Status Write(std::int64_t offset, std::span<const std::byte> bytes);
  /// Cuts off, or adds zeros. \error as Write
  Status Resize(std::int64_t size);
  /// The room that a writer who goes on in order comes to next and that nobody has asked for yet:
  /// empty for small files and while there is enough. It is for Touch.
  std::span<std::byte> RoomAhead();
  /// Has the system lay memory under a room, which costs as much as the copy into it. Its bytes
  /// stay as they are. \threadsafety Any thread, also while others write there.
  static void Touch(std::span<std::byte> room);

 private:
  StagedBytes(std::shared_ptr<StagingBudget> budget, std::byte* begin, std::int64_t limit)
      : budget_(std::move(budget)), begin_(begin), limit_(limit) {}
  Status Reach(std::int64_t size);

  const std::shared_ptr<StagingBudget> budget_;
  std::byte* const begin_;
  const std::int64_t limit_;
  std::int64_t size_ = 0;
  std::int64_t asked_ = 0;  // the end of the last room ahead
};

}  // namespace tessera::engine::vfs
