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
  const std::int64_t element = ptc::SizeBytes(dtype);
  // A view of the uncut tensor without memory. It provides the offsets of the bytes in the tensor.
  const auto whole = ptc::Box::Whole(shape);
  TESSERA_CHECK(whole.has_value());
  const CellView indices(*whole, cell, element, nullptr);

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

std::uint64_t WriteAndDigest(const CellView& to, std::int64_t offset, std::span<const std::byte> in,
                             ptc::DType dtype, const ptc::Shape& shape, const ptc::Box& cell) {
  if (in.empty()) return 0;
  const std::int64_t element = ptc::SizeBytes(dtype);
  TESSERA_DCHECK(0 <= offset && offset + std::ssize(in) <= to.size_bytes());
  const auto whole = ptc::Box::Whole(shape);
  TESSERA_CHECK(whole.has_value());
  const CellView indices(*whole, cell, element, nullptr);

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

}  // namespace tessera::engine
