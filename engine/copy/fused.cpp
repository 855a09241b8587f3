// SPDX-License-Identifier: Apache-2.0
#include "engine/copy/fused.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

#include "engine/copy/run_walker.h"
#include "ptc/base/check.h"
#include "ptc/digest.h"

namespace tessera::engine {
namespace {

/// A block of the source and the same block of a destination fit into a quarter of a 512 KiB
/// second-level cache, so that what is digested first is still there when it is copied.
constexpr std::int64_t kBlockBytes = std::int64_t{64} << 10;
/// Copied and digested at a time. Small, so that few prefetches are issued at once: a core has room
/// for some tens of lines that are on their way.
constexpr std::int64_t kChunkBytes = 512;
constexpr std::int64_t kLineBytes = 64;
/// Of bytes that are only read: how far ahead they are fetched, and how many at a time.
constexpr std::int64_t kAheadBytes = 2048;
constexpr std::int64_t kStepBytes = 4096;

/// Packed bytes in memory, walked like a cell.
template <typename Byte>
class Packed {
 public:
  explicit Packed(Byte* data) : data_(data) {}
  Byte* data() const { return data_; }
  static std::int64_t remaining() { return std::numeric_limits<std::int64_t>::max(); }
  void Advance(std::int64_t bytes) { data_ += bytes; }

 private:
  Byte* data_;
};

/// Brings bytes of a cell into the cache before they are used, in step with a copy. The processor's
/// own prefetch stops at the end of a run and of a page, and comes late for lines that are written.
template <bool kForWrite>
class Prefetcher {
 public:
  /// Begins at byte `offset`, which may lie behind the end.
  Prefetcher(const CellView& view, std::int64_t offset) {
    if (offset < view.size_bytes()) walker_.emplace(view, offset);
  }
  void Advance(std::int64_t bytes) {
    while (bytes > 0 && walker_ && walker_->remaining() > 0) {
      const std::int64_t count = std::min(bytes, walker_->remaining());
      const std::byte* const data = walker_->data();
      for (std::int64_t line = 0; line < count; line += kLineBytes) {
        __builtin_prefetch(data + line, kForWrite ? 1 : 0);
      }
      walker_->Advance(count);
      bytes -= count;
    }
  }

 private:
  std::optional<RunWalker> walker_;
};
struct NoPrefetcher {
  void Advance(std::int64_t) {}
};

template <typename Target, typename Source, typename TargetAhead, typename SourceAhead>
std::uint64_t CopyAndDigestBytes(Target target, Source source, RunWalker index, std::int64_t left,
                                 TargetAhead target_ahead, SourceAhead source_ahead) {
  std::uint64_t digest = 0;
  while (left > 0) {
    const std::int64_t bytes =
        std::min({target.remaining(), source.remaining(), index.remaining(), left, kChunkBytes});
    target_ahead.Advance(bytes);
    source_ahead.Advance(bytes);
    std::memcpy(target.data(), source.data(), static_cast<std::size_t>(bytes));
    digest += ptc::DigestRun(static_cast<std::uint64_t>(index.piece_offset()),
                             {target.data(), static_cast<std::size_t>(bytes)});
    target.Advance(bytes);
    source.Advance(bytes);
    index.Advance(bytes);
    left -= bytes;
  }
  return digest;
}

template <typename Source, typename Ahead>
std::uint64_t DigestBytes(Source source, RunWalker index, std::int64_t left, Ahead ahead) {
  std::uint64_t digest = 0;
  while (left > 0) {
    const std::int64_t bytes = std::min({source.remaining(), index.remaining(), left, kStepBytes});
    ahead.Advance(bytes);
    digest += ptc::DigestRun(static_cast<std::uint64_t>(index.piece_offset()),
                             {source.data(), static_cast<std::size_t>(bytes)});
    source.Advance(bytes);
    index.Advance(bytes);
    left -= bytes;
  }
  return digest;
}

}  // namespace

CopyDigests CopyCellAndDigest(std::span<const CellView> to, const CellView& from,
                              const CellView& indices,
                              const std::function<void()>& source_digested) {
  CopyDigests digests{0, std::vector<std::uint64_t>(to.size())};
  for (std::int64_t offset = 0; offset < from.size_bytes(); offset += kBlockBytes) {
    const std::int64_t bytes = std::min(kBlockBytes, from.size_bytes() - offset);
    digests.source +=
        DigestBytes(RunWalker(from, offset), RunWalker(indices, offset), bytes, NoPrefetcher());
    if (source_digested) source_digested();
    for (std::size_t i = 0; i < to.size(); ++i) {
      digests.copies[i] += CopyAndDigestBytes(
          RunWalker(to[i], offset), RunWalker(from, offset), RunWalker(indices, offset), bytes,
          Prefetcher<true>(to[i], offset + kChunkBytes), Prefetcher<false>(from, offset + bytes));
    }
  }
  return digests;
}

std::uint64_t DigestCell(const CellView& from, const CellView& indices) {
  return DigestBytes(RunWalker(from, 0), RunWalker(indices, 0), from.size_bytes(),
                     Prefetcher<false>(from, kAheadBytes));
}

CellView IndicesOf(ptc::DType dtype, const ptc::Shape& shape, const ptc::Box& cell) {
  const auto whole = ptc::Box::Whole(shape);
  TESSERA_CHECK(whole.has_value());
  return {*whole, cell, ptc::SizeBytes(dtype), nullptr};
}

std::uint64_t WriteAndDigest(const CellView& to, const CellView& indices, std::int64_t offset,
                             std::span<const std::byte> in) {
  if (in.empty()) return 0;
  TESSERA_DCHECK(0 <= offset && offset + std::ssize(in) <= to.size_bytes());
  return CopyAndDigestBytes(RunWalker(to, offset), Packed(in.data()), RunWalker(indices, offset),
                            std::ssize(in), Prefetcher<true>(to, offset + kChunkBytes),
                            NoPrefetcher());
}

std::uint64_t ReadAndDigest(const CellView& from, const CellView& indices, std::int64_t offset,
                            std::span<std::byte> out) {
  if (out.empty()) return 0;
  TESSERA_DCHECK(0 <= offset && offset + std::ssize(out) <= from.size_bytes());
  return CopyAndDigestBytes(Packed(out.data()), RunWalker(from, offset), RunWalker(indices, offset),
                            std::ssize(out), NoPrefetcher(),
                            Prefetcher<false>(from, offset + kChunkBytes));
}

std::uint64_t DigestPacked(const CellView& indices, std::int64_t offset,
                           std::span<const std::byte> bytes) {
  if (bytes.empty()) return 0;
  return DigestBytes(Packed(bytes.data()), RunWalker(indices, offset), std::ssize(bytes),
                     NoPrefetcher());
}

}  // namespace tessera::engine
