// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Memory of a file that is being written, and the budget for all such files.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "ptc/base/result.h"

namespace tessera::engine::vfs {

/// Limits the bytes of all staged files.
/// \threadsafety Any thread.
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

/// The bytes of one file. They grow in place up to a limit that is known in advance, so that no
/// byte is copied twice. Bytes that were never written are 0.
/// \threadsafety One thread at a time.
class StagedBytes {
 public:
  /// Reserves address space. Memory is allocated when it is written.
  /// \error kResourceExhausted if the process lacks the address space
  static Result<std::unique_ptr<StagedBytes>> Make(std::shared_ptr<StagingBudget> budget,
                                                   std::int64_t limit);
  ~StagedBytes();
  StagedBytes(const StagedBytes&) = delete;
  StagedBytes& operator=(const StagedBytes&) = delete;

  std::span<const std::byte> bytes() const { return {begin_, static_cast<std::size_t>(size_)}; }
  std::int64_t size() const { return size_; }
  /// \error kResourceExhausted naming the limit of the file or of the budget; nothing is written
  Status Write(std::int64_t offset, std::span<const std::byte> bytes);
  /// Truncates the file or appends zeros.
  /// \error as Write
  Status Resize(std::int64_t size);
  /// The range for Touch that a sequential writer reaches next. Each call returns another range;
  /// empty for small files and while enough memory is prepared.
  std::span<std::byte> RoomAhead();
  /// Allocates the pages of a range without changing its bytes. The allocation takes as long as the
  /// copy into the pages.
  /// \threadsafety Any thread, also while another thread writes the same range.
  static void Touch(std::span<std::byte> room);

 private:
  StagedBytes(std::shared_ptr<StagingBudget> budget, std::byte* begin, std::int64_t limit)
      : budget_(std::move(budget)), begin_(begin), limit_(limit) {}
  Status Reach(std::int64_t size);

  const std::shared_ptr<StagingBudget> budget_;
  std::byte* const begin_;
  const std::int64_t limit_;
  std::int64_t size_ = 0;
  std::int64_t asked_ = 0;  // end of the last range of RoomAhead
};

}  // namespace tessera::engine::vfs
