// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The argument of the kernel for a cell.

#include <cstdint>

#include "agents/gpu/kernels/cell_work.h"
#include "engine/copy/cell_view.h"

namespace tessera::agents::gpu {

/// Packed bytes of a cell, whose byte `begin` is at `address`.
struct PackedBytes {
  std::uint64_t address = 0;
  std::int64_t begin = 0;
};

/// What the kernel does with bytes [begin, end) of a packed cell. Each of the memories is either a
/// view or packed. With `digest`, the address of 64 bits, the digest of these bytes as they are at
/// `from` is added there.
/// \pre begin < end; all views are of the same cell
CellWork CopyWork(const engine::CellView& from, const engine::CellView& to,
                  const engine::CellView* indices, std::int64_t begin, std::int64_t end,
                  std::uint64_t digest);
CellWork PackWork(const engine::CellView& from, PackedBytes to, const engine::CellView* indices,
                  std::int64_t end, std::uint64_t digest);
CellWork UnpackWork(PackedBytes from, const engine::CellView& to, std::int64_t end);
CellWork DigestWork(const engine::CellView& from, const engine::CellView& indices,
                    std::int64_t begin, std::int64_t end, std::uint64_t digest);

}  // namespace tessera::agents::gpu
