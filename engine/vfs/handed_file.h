// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// One rank's file as it is handed in: what has to be in it.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/vfs/file_plan.h"
#include "engine/vfs/state_sink.h"
#include "engine/vfs/state_source.h"
#include "ptc/base/result.h"

namespace tessera::engine::vfs {

/// What a file holds, found right. The pieces point into its bytes.
struct HandedFile {
  int rank = 0;
  Part part = Part::kModel;
  std::int64_t step = 0;
  std::vector<std::pair<int, HandedPiece>> pieces;  // with the tensor's index
};

/// The largest file that can be right: more is not worth keeping.
/// \error that of FilePlan::Make
Result<std::int64_t> MaxHandedBytes(const JobInfo& job, int rank, Part part);

/// Reads the header and compares it with what `rank` holds of `part` in the job's layout: the same
/// names (DESIGN.md), types and shapes, none missing and none more. The metadata must have
/// `tessera.step`; `tessera.job`, `.layout`, `.rank` and `.digests` (ptc/digest.h, of the elements
/// in this file) are compared where they are there. A tensor job.step must hold the step. \param
/// path stands in errors \error kInvalidArgument naming path, tensor, and both values; kDataLoss
/// for a digest
Result<HandedFile> ReadHandedFile(const JobInfo& job, int rank, Part part,
                                  std::span<const std::byte> bytes, const std::string& path);

}  // namespace tessera::engine::vfs
