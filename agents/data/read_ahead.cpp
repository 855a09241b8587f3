// SPDX-License-Identifier: Apache-2.0
#include "agents/data/read_ahead.h"

#include <algorithm>
#include <cstring>

namespace tessera::agents {
namespace {

using engine::ByteSource;
using engine::ByteSourcePtr;

class AheadSource final : public WrappedSource {
 public:
  AheadSource(ByteSourcePtr source, std::shared_ptr<ReadAhead> ahead)
      : WrappedSource(std::move(source)), ahead_(std::move(ahead)) {}
  Status ReadAt(std::int64_t offset, std::span<std::byte> out) const override {
    return ahead_->Read(source(), stream_end_, offset, out);
  }

 private:
  const std::shared_ptr<ReadAhead> ahead_;
  mutable std::int64_t stream_end_ = 0;  // guarded by *ahead_; a file is often read from its start
};

}  // namespace

ReadAhead::ReadAhead(ReadAheadOptions options)
    : options_(options), thread_([this](const std::stop_token& stop) { Run(stop); }) {}

ReadAhead::~ReadAhead() = default;  // stops and joins the thread

ReadAhead::SlotPtr ReadAhead::FindLocked(const ByteSource* source, std::int64_t begin) const {
  const auto found = std::ranges::find_if(slots_, [&](const SlotPtr& slot) {
    return slot->source.get() == source && slot->begin == begin;
  });
  return found == slots_.end() ? nullptr : *found;
}

void ReadAhead::WantLocked(const ByteSourcePtr& source, std::int64_t offset) {
  const std::int64_t size = options_.block_bytes;
  std::int64_t begin = offset / size * size;
  for (int i = 0; i < options_.blocks_ahead && begin < source->size_bytes(); ++i, begin += size) {
    if (!FindLocked(source.get(), begin))
      slots_.push_back(std::make_shared<Slot>(Slot{source, begin}));
  }
  while (slots_.size() > options_.max_blocks) slots_.pop_front();
  changed_.notify_all();
}

Status ReadAhead::Read(const ByteSourcePtr& source, std::int64_t& stream_end, std::int64_t offset,
                       std::span<std::byte> out) {
  std::unique_lock lock(mutex_);
  const bool is_sequential = offset == stream_end;
  stream_end = offset + static_cast<std::int64_t>(out.size());
  if (is_sequential) WantLocked(source, stream_end);
  while (!out.empty()) {
    const std::int64_t begin = offset / options_.block_bytes * options_.block_bytes;
    const std::int64_t skipped = offset - begin;
    const auto count = static_cast<std::size_t>(
        std::min(static_cast<std::int64_t>(out.size()), options_.block_bytes - skipped));
    const SlotPtr slot = FindLocked(source.get(), begin);
    // A reader that is ahead of the thread fetches the whole block too: its next reads need it.
    if (slot && slot->state == State::kWanted) Load(*slot, lock);
    if (slot) changed_.wait(lock, [&] { return slot->state != State::kLoading; });
    if (slot && slot->state == State::kReady) {
      std::memcpy(out.data(), slot->bytes.data() + skipped, count);
      if (skipped + static_cast<std::int64_t>(count) == std::ssize(slot->bytes))
        slots_.remove(slot);
    } else {
      if (slot) slots_.remove(slot);  // it failed, perhaps outside the range of this read
      lock.unlock();
      TESSERA_RETURN_IF_ERROR(source->ReadAt(offset, out.first(count)));
      lock.lock();
    }
    out = out.subspan(count);
    offset += static_cast<std::int64_t>(count);
  }
  return OkStatus();
}

void ReadAhead::Load(Slot& slot, std::unique_lock<std::mutex>& lock) {
  slot.state = State::kLoading;
  lock.unlock();
  const std::int64_t left = slot.source->size_bytes() - slot.begin;
  std::vector<std::byte> bytes(static_cast<std::size_t>(std::min(options_.block_bytes, left)));
  const Status status = slot.source->ReadAt(slot.begin, bytes);
  lock.lock();
  slot.bytes = std::move(bytes);
  slot.state = status ? State::kReady : State::kFailed;
  changed_.notify_all();
}

void ReadAhead::Run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  for (;;) {
    SlotPtr next;
    const bool has_work = changed_.wait(lock, stop, [&] {
      const auto wanted = std::ranges::find(slots_, State::kWanted,
                                            [](const SlotPtr& slot) { return slot->state; });
      next = wanted == slots_.end() ? nullptr : *wanted;
      return next != nullptr;
    });
    if (!has_work || stop.stop_requested()) return;
    Load(*next, lock);
  }
}

ByteSourcePtr AheadFiles::Wrap(ByteSourcePtr source) const {
  return std::make_shared<const AheadSource>(std::move(source), ahead_);
}

}  // namespace tessera::agents
