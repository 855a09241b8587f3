// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Reads a strided block of a file into strided memory with few large reads.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/checkpoint/open_files.h"

namespace tessera::checkpoint {

/// One dim of a block: `size` elements, `from` elements apart in the file and `to` elements apart
/// in memory.
struct StridedDim {
  std::int64_t size = 1;
  std::int64_t from = 0;
  std::int64_t to = 0;
  friend bool operator==(const StridedDim&, const StridedDim&) = default;
};

/// Sorts the dims of a block by their stride in the file, largest first, drops dims of size 1 and
/// merges neighbours that are contiguous on both sides.
std::vector<StridedDim> Normalize(std::vector<StridedDim> dims);

/// Reads the block whose first element is at byte `offset` of the file into `out`. Short runs that
/// are close together in the file are read together through a buffer of 1 MiB. Long runs are read
/// straight into `out`.
/// \pre element_bytes is 1, 2, 4 or 8; no stride is negative
Status ReadStrided(const File& file, std::int64_t offset, std::int64_t element_bytes,
                   std::vector<StridedDim> dims, std::byte* out);

}  // namespace tessera::checkpoint
