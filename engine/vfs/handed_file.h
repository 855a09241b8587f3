// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The check of one file that is handed in.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/vfs/file_plan.h"
#include "engine/vfs/handed_cells.h"
#include "engine/vfs/state_sink.h"
#include "engine/vfs/state_source.h"
#include "ptc/base/result.h"

namespace tessera::engine::vfs {

/// A file that passed the check. The pieces point into its bytes.
struct HandedFile {
  /// A cell of the layout that lies in this file.
  struct Cell {
    std::size_t cell = 0;      // position in HandedCells::cells()
    std::uint64_t digest = 0;  // of its elements in this file, if the cell is shared
  };
  int rank = 0;
  StateFile state_file = StateFile::kModel;
  std::int64_t step = 0;
  std::vector<std::pair<int, HandedPiece>> pieces;  // with the tensor's index
  std::vector<Cell> cells = {};                     // ascending
};

/// Bytes of the largest file that can pass the check.
/// \error that of FilePlan::Make
Result<std::int64_t> MaxHandedBytes(const JobInfo& job, int rank, StateFile file);

/// Reads the header and compares it with the pieces of `rank` in the job's layout: the same names
/// (DESIGN.md), types and shapes, none missing and none more. The metadata must have
/// `tessera.step`. If it has `tessera.job`, `.layout`, `.rank` or `.digests` (ptc/digest.h, of the
/// elements in this file, with that algorithm in `tessera.digest`), they are compared too. A tensor
/// job.step must hold the step. Digests every shared cell once.
/// \param cells of the job's layout
/// \param path for errors
/// \error kInvalidArgument naming path, tensor and both values; kDataLoss for a digest
Result<HandedFile> ReadHandedFile(const JobInfo& job, const HandedCells& cells, int rank,
                                  StateFile file, std::span<const std::byte> bytes,
                                  const std::string& path);

}  // namespace tessera::engine::vfs
