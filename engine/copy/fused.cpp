// SPDX-License-Identifier: Apache-2.0
#include "engine/copy/fused.h"

#include <algorithm>
#include <cstring>

#include "engine/copy/run_walker.h"
#include "ptc/base/check.h"
#include "ptc/digest.h"

namespace tessera::engine {
namespace {

/// A source block and a destination block fit into a quarter of a 256 KiB second-level cache, the
/// smallest among current server cores, so that the digest finds them there.
constexpr std::int64_t kBlockBytes = std::int64_t{32} << 10;

}  // namespace

std::uint64_t CopyCellAndDigest(const CellView& to, const CellView& from, ptc::DType dtype,
                                const ptc::Shape& shape, const ptc::Box& cell) {
  TESSERA_DCHECK(to.size_bytes() == from.size_bytes());
  const CellView indices = IndicesOf(dtype, shape, cell);
  RunWalker target(to, 0);
  RunWalker source(from, 0);
  RunWalker index(indices, 0);
  std::uint64_t digest = 0;
  for (std::int64_t left = to.size_bytes(); left > 0;) {
    const std::int64_t bytes =
        std::min({target.remaining(), source.remaining(), index.remaining(), kBlockBytes});
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

CellView IndicesOf(ptc::DType dtype, const ptc::Shape& shape, const ptc::Box& cell) {
  const auto whole = ptc::Box::Whole(shape);
  TESSERA_CHECK(whole.has_value());
  return {*whole, cell, ptc::SizeBytes(dtype), nullptr};
}

std::uint64_t WriteAndDigest(const CellView& to, const CellView& indices, std::int64_t offset,
                             std::span<const std::byte> in) {
  if (in.empty()) return 0;
  TESSERA_DCHECK(0 <= offset && offset + std::ssize(in) <= to.size_bytes());
  RunWalker target(to, offset);
  RunWalker index(indices, offset);
  std::uint64_t digest = 0;
  for (std::int64_t done = 0; done < std::ssize(in);) {
    const std::int64_t bytes =
        std::min({target.remaining(), index.remaining(), std::ssize(in) - done, kBlockBytes});
    std::memcpy(target.data(), in.data() + done, static_cast<std::size_t>(bytes));
    digest += ptc::DigestRun(static_cast<std::uint64_t>(index.piece_offset()),
                             {target.data(), static_cast<std::size_t>(bytes)});
    target.Advance(bytes);
    index.Advance(bytes);
    done += bytes;
  }
  return digest;
}

std::uint64_t ReadAndDigest(const CellView& from, const CellView& indices, std::int64_t offset,
                            std::span<std::byte> out) {
  if (out.empty()) return 0;
  TESSERA_DCHECK(0 <= offset && offset + std::ssize(out) <= from.size_bytes());
  RunWalker source(from, offset);
  RunWalker index(indices, offset);
  std::uint64_t digest = 0;
  for (std::int64_t done = 0; done < std::ssize(out);) {
    const std::int64_t bytes =
        std::min({source.remaining(), index.remaining(), std::ssize(out) - done, kBlockBytes});
    std::memcpy(out.data() + done, source.data(), static_cast<std::size_t>(bytes));
    digest += ptc::DigestRun(
        static_cast<std::uint64_t>(index.piece_offset()),
        out.subspan(static_cast<std::size_t>(done), static_cast<std::size_t>(bytes)));
    source.Advance(bytes);
    index.Advance(bytes);
    done += bytes;
  }
  return digest;
}

std::uint64_t DigestPacked(const CellView& indices, std::int64_t offset,
                           std::span<const std::byte> bytes) {
  if (bytes.empty()) return 0;
  RunWalker index(indices, offset);
  std::uint64_t digest = 0;
  for (std::int64_t done = 0; done < std::ssize(bytes);) {
    const std::int64_t run = std::min(index.remaining(), std::ssize(bytes) - done);
    digest += ptc::DigestRun(
        static_cast<std::uint64_t>(index.piece_offset()),
        bytes.subspan(static_cast<std::size_t>(done), static_cast<std::size_t>(run)));
    index.Advance(run);
    done += run;
  }
  return digest;
}

}  // namespace tessera::engine
