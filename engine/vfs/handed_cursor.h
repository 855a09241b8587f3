// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The position in the data set in a handed-in state (tensor job.cursor).

#include <string>

#include "engine/vfs/handed_file.h"
#include "engine/vfs/sample_source.h"
#include "engine/vfs/state_source.h"
#include "ptc/base/result.h"

namespace tessera::engine::vfs {

/// Checks that the cursor is at sample step x global batch of the order of the job's seed, which is
/// the rule by which data/ shows the next samples. A job with a wrong `at_change` on purpose may be
/// at any position: only the seed is compared. A file without the tensor and a job without known
/// settings pass.
/// \param samples provides the length of a pass if the cursor is past the first one. If it is
///     nullptr or cannot open the data, any length that fits the numbers passes.
/// \param path for errors
/// \error kInvalidArgument naming path, tensor, its value and the expected value
Status CheckHandedCursor(const HandedFile& file, const JobInfo& job, SampleSource* samples,
                         const std::string& path);

}  // namespace tessera::engine::vfs
