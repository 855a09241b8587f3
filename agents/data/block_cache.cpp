// SPDX-License-Identifier: Apache-2.0
#include "agents/data/block_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "agents/data/block_file.h"
#include "engine/copy/checksum.h"

namespace tessera::agents {
namespace {

namespace fs = std::filesystem;
using engine::ByteSource;

constexpr std::string_view kEnding = ".block";

struct Kept {
  fs::file_time_type used;
  std::string path;
  std::int64_t size_bytes = 0;
};

/// Lists the blocks of a folder, and removes temporary files of writers that were killed.
std::vector<Kept> BlocksIn(const std::string& folder) {
  std::vector<Kept> blocks;
  std::error_code error;
  const auto old = fs::file_time_type::clock::now() - std::chrono::minutes(10);
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code gone;  // another process evicts as well
    const auto used = it->last_write_time(gone);
    const auto size = static_cast<std::int64_t>(it->file_size(gone));
    if (gone) continue;
    const std::string path = it->path();
    if (path.ends_with(kEnding)) blocks.push_back({used, path, size});
    if (path.ends_with(".new") && used < old) fs::remove(path, gone);
  }
  return blocks;
}

class CachedSource final : public WrappedSource {
 public:
  CachedSource(engine::ByteSourcePtr source, std::shared_ptr<BlockCache> cache)
      : WrappedSource(std::move(source)), cache_(std::move(cache)) {}
  Status ReadAt(std::int64_t offset, std::span<std::byte> out) const override {
    return cache_->Read(*source(), offset, out);
  }

 private:
  const std::shared_ptr<BlockCache> cache_;
};

}  // namespace

BlockCache::BlockCache(BlockCacheOptions options) : options_(std::move(options)) {
  std::error_code ignored;  // a write then fails with a message
  fs::create_directories(options_.folder, ignored);
  Evict();
}

BlockCache::Block BlockCache::BlockAt(const ByteSource& source, std::int64_t offset) const {
  const std::int64_t index = offset / options_.block_bytes;
  const std::string known = fmt::format("{}\n{}\n{}\n{}\n{}", source.name(), source.version(),
                                        source.size_bytes(), options_.block_bytes, index);
  const std::uint64_t key = engine::Checksum(std::as_bytes(std::span(known)));
  const std::int64_t begin = index * options_.block_bytes;
  return {fmt::format("{}/{:016x}{}", options_.folder, key, kEnding), key, begin,
          std::min(options_.block_bytes, source.size_bytes() - begin)};
}

Status BlockCache::Read(const ByteSource& source, std::int64_t offset, std::span<std::byte> out) {
  while (!out.empty()) {
    const Block block = BlockAt(source, offset);
    const std::int64_t begin = offset - block.begin;
    const auto count = std::min(static_cast<std::int64_t>(out.size()), block.size_bytes - begin);
    TESSERA_RETURN_IF_ERROR(
        ReadPart(source, block, begin, out.first(static_cast<std::size_t>(count))));
    out = out.subspan(static_cast<std::size_t>(count));
    offset += count;
  }
  return OkStatus();
}

Status BlockCache::ReadPart(const ByteSource& source, const Block& block, std::int64_t begin,
                            std::span<std::byte> out) {
  for (;;) {
    if (ReadBlockFile(block.path, block.key, block.size_bytes, begin, out)) return OkStatus();
    if (!IsStoring()) return source.ReadAt(block.begin + begin, out);
    std::unique_lock lock(mutex_);
    if (in_flight_.insert(block.key).second) break;
    fetched_.wait(lock, [&] { return !in_flight_.contains(block.key); });
  }
  Status status = Fetch(source, block, begin, out);
  const std::lock_guard lock(mutex_);
  in_flight_.erase(block.key);
  fetched_.notify_all();
  return status;
}

Status BlockCache::Fetch(const ByteSource& source, const Block& block, std::int64_t begin,
                         std::span<std::byte> out) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(block.size_bytes));
  TESSERA_RETURN_IF_ERROR(source.ReadAt(block.begin, bytes));
  std::copy_n(bytes.begin() + begin, out.size(), out.begin());
  Keep(block, bytes);
  return OkStatus();
}

void BlockCache::Keep(const Block& block, std::span<const std::byte> bytes) {
  const Status status = WriteBlockFile(block.path, block.key, bytes);
  bool must_evict = false, must_warn = false;
  {
    const std::lock_guard lock(mutex_);
    if (status) {
      used_bytes_ += std::ssize(bytes);
      unseen_bytes_ += std::ssize(bytes);
      must_evict = used_bytes_ > options_.limit_bytes || unseen_bytes_ > options_.limit_bytes / 16;
    } else {
      storing_from_ = Clock::now() + std::chrono::minutes(1);
      must_warn = !std::exchange(has_warned_, true);
    }
  }
  if (must_evict) Evict();
  if (must_warn && options_.warn) {
    options_.warn(fmt::format("data is read without the cache: {}", status.error().ToString()));
  }
}

void BlockCache::Evict() {
  std::vector<Kept> blocks = BlocksIn(options_.folder);
  std::int64_t used = 0;
  for (const Kept& block : blocks) used += block.size_bytes;
  if (used > options_.limit_bytes) {
    std::ranges::sort(blocks, {}, &Kept::used);
    for (const Kept& block : blocks) {  // some more room, so that not every block lists the folder
      if (used <= options_.limit_bytes - options_.limit_bytes / 10) break;
      std::error_code ignored;
      fs::remove(block.path, ignored);
      used -= block.size_bytes;
    }
  }
  const std::lock_guard lock(mutex_);
  used_bytes_ = used;
  unseen_bytes_ = 0;
}

bool BlockCache::IsStoring() {
  const std::lock_guard lock(mutex_);
  return Clock::now() >= storing_from_;
}

engine::ByteSourcePtr CachedFiles::Wrap(engine::ByteSourcePtr source) const {
  return std::make_shared<const CachedSource>(std::move(source), cache_);
}

}  // namespace tessera::agents
