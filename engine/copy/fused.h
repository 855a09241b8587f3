// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Copies that compute the digest of the copied elements. They read memory once, because each block
/// is still in the cache when it is digested. Digests of parts add up mod 2^64.

#include <cstdint>
#include <span>

#include "engine/copy/cell_view.h"
#include "engine/copy/checksum.h"
#include "ptc/box.h"
#include "ptc/dtype.h"

namespace tessera::engine {

/// Copies `cell` and returns the digest of the bytes at `to` after the copy. It equals
/// ptc::DigestBox of the source unless memory or copy is faulty.
/// \param shape of the uncut tensor
/// \pre both views are of `cell` with elements of `dtype`; `cell` lies inside `shape`
std::uint64_t CopyCellAndDigest(const CellView& to, const CellView& from, ptc::DType dtype,
                                const ptc::Shape& shape, const ptc::Box& cell);

/// Scatters `in` to bytes [offset, offset + in.size()) of the packed cell, as CellView::Write does,
/// and returns the digest of those bytes. The digests of calls that cover a cell add up to the
/// digest of the cell.
/// \pre as above; the range lies inside the cell
std::uint64_t WriteAndDigest(const CellView& to, std::int64_t offset, std::span<const std::byte> in,
                             ptc::DType dtype, const ptc::Shape& shape, const ptc::Box& cell);

}  // namespace tessera::engine
