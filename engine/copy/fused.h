// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Copies that compute the digest of the copied elements. They read memory once, because each block
/// is still in the cache when it is digested. Digests of parts add up mod 2^64.

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "engine/copy/cell_view.h"
#include "engine/copy/checksum.h"
#include "ptc/box.h"
#include "ptc/dtype.h"

namespace tessera::engine {

struct CopyDigests {
  std::uint64_t source = 0;
  std::vector<std::uint64_t> copies;  // by destination
};
/// Copies a cell to each of `to`, block by block: the digest of the bytes of a block at the source
/// is computed first, then the block is copied, then the bytes at the destination are digested. The
/// digests are equal unless the source changes meanwhile, or memory or copy is faulty.
/// \param indices of the cell in the uncut tensor, by IndicesOf
/// \param source_digested is called between the digest of each block and its copies
/// \pre all views are of the same cell
CopyDigests CopyCellAndDigest(std::span<const CellView> to, const CellView& from,
                              const CellView& indices,
                              const std::function<void()>& source_digested = {});

/// The digest of a cell in place.
std::uint64_t DigestCell(const CellView& from, const CellView& indices);

/// `cell` as a view of the uncut tensor, without memory. It gives the offset in the tensor of each
/// byte of the packed cell.
/// \param shape of the uncut tensor
/// \pre `cell` lies inside `shape`
CellView IndicesOf(ptc::DType dtype, const ptc::Shape& shape, const ptc::Box& cell);

/// These functions take a range of bytes of a packed cell, whose offsets in the tensor are
/// `indices`. The digests of ranges that cover a cell add up to the digest of the cell.
/// \pre the range lies inside the cell; view and indices are of the same cell

/// Scatters `in` to bytes [offset, offset + in.size()), as CellView::Write does, and returns the
/// digest of the bytes at `to` after the copy.
std::uint64_t WriteAndDigest(const CellView& to, const CellView& indices, std::int64_t offset,
                             std::span<const std::byte> in);
/// Gathers bytes [offset, offset + out.size()), as CellView::Read does, and returns the digest of
/// the bytes in `out`.
std::uint64_t ReadAndDigest(const CellView& from, const CellView& indices, std::int64_t offset,
                            std::span<std::byte> out);
/// The digest of bytes [offset, offset + bytes.size()), which the caller has packed in `bytes`.
std::uint64_t DigestPacked(const CellView& indices, std::int64_t offset,
                           std::span<const std::byte> bytes);

}  // namespace tessera::engine
