// SPDX-License-Identifier: Apache-2.0
#include "engine/vfs/staged_bytes.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>

namespace tessera::engine::vfs {
namespace {

/// Size of a range of RoomAhead. Smaller files get none, so that memory outside of the budget never
/// exceeds the memory in it.
constexpr std::int64_t kAheadBytes = std::int64_t{4} << 20;

}  // namespace

Status StagingBudget::Take(std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (bytes > limit_ - used_) {
    return ResourceExhausted(
        fmt::format("cannot stage {} more bytes: {} of {} bytes are in use", bytes, used_, limit_));
  }
  used_ += bytes;
  return OkStatus();
}

void StagingBudget::GiveBack(std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  used_ -= bytes;
}

Result<std::unique_ptr<StagedBytes>> StagedBytes::Make(std::shared_ptr<StagingBudget> budget,
                                                       std::int64_t limit) {
  limit = std::max<std::int64_t>(limit, 1);
  void* const begin = ::mmap(nullptr, static_cast<std::size_t>(limit), PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (begin == MAP_FAILED) {
    return ResourceExhausted(fmt::format("no address space for a file of {} bytes", limit));
  }
  // Huge pages, because the first touch of small ones takes as long as the copy into them.
  ::madvise(begin, static_cast<std::size_t>(limit), MADV_HUGEPAGE);
  return std::unique_ptr<StagedBytes>(
      new StagedBytes(std::move(budget), static_cast<std::byte*>(begin), limit));
}

StagedBytes::~StagedBytes() {
  ::munmap(begin_, static_cast<std::size_t>(limit_));
  budget_->GiveBack(size_);
}

Status StagedBytes::Reach(std::int64_t size) {
  if (size > limit_) {
    return ResourceExhausted(
        fmt::format("the file would have {} bytes, the limit is {}", size, limit_));
  }
  if (size <= size_) return OkStatus();
  TESSERA_RETURN_IF_ERROR(budget_->Take(size - size_));
  size_ = size;
  return OkStatus();
}

Status StagedBytes::Write(std::int64_t offset, std::span<const std::byte> bytes) {
  if (offset < 0 || offset > limit_) {
    return ResourceExhausted(
        fmt::format("byte {} is outside of a file of at most {}", offset, limit_));
  }
  TESSERA_RETURN_IF_ERROR(Reach(offset + std::ssize(bytes)));
  std::memcpy(begin_ + offset, bytes.data(), bytes.size());
  return OkStatus();
}

Status StagedBytes::Resize(std::int64_t size) {
  if (size < 0) return InvalidArgument(fmt::format("size {} is negative", size));
  if (size >= size_) return Reach(size);
  if (size == 0) {  // frees the pages, which read as zeros afterwards
    ::madvise(begin_, static_cast<std::size_t>(limit_), MADV_DONTNEED);
  } else {
    std::memset(begin_ + size, 0, static_cast<std::size_t>(size_ - size));
  }
  budget_->GiveBack(size_ - size);
  size_ = size;
  asked_ = 0;
  return OkStatus();
}

std::span<std::byte> StagedBytes::RoomAhead() {
  const std::int64_t from = std::max(size_, asked_);
  if (size_ < kAheadBytes || from - size_ >= kAheadBytes / 2) return {};
  asked_ = std::min(limit_, from + kAheadBytes);
  return {begin_ + from, static_cast<std::size_t>(asked_ - from)};
}

void StagedBytes::Touch(std::span<std::byte> room) {
  if (room.empty()) return;
  constexpr std::uintptr_t kPage = 4096;
  const auto begin = (reinterpret_cast<std::uintptr_t>(room.data()) + kPage - 1) / kPage * kPage;
  const auto end = (reinterpret_cast<std::uintptr_t>(room.data()) + room.size()) / kPage * kPage;
  // If the kernel cannot, the copy allocates the pages.
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_POPULATE_WRITE);
}

}  // namespace tessera::engine::vfs
