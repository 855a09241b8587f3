// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The place in the data that a handed-in state says it has reached (tensor job.cursor).

#include <string>

#include "engine/vfs/handed_file.h"
#include "engine/vfs/sample_source.h"
#include "engine/vfs/state_source.h"
#include "ptc/base/result.h"

namespace tessera::engine::vfs {

/// A built-in job has read step x global batch samples in the order of its seed, and data/ shows
/// what it reads next by that rule; a cursor that says otherwise is refused. Jobs that are wrong
/// with their data on purpose (`at_change`) are where their changes have brought them: only the
/// seed is compared. A file without the tensor, and a job whose settings are not known, pass.
/// \param samples tells how long a pass is, where the cursor is past the first; nullptr, or data
///     that cannot be opened here: any length of pass that makes the numbers fit will do
/// \param path stands in errors
/// \error kInvalidArgument naming path, tensor, what it says and what it has to be
Status CheckHandedCursor(const HandedFile& file, const JobInfo& job, SampleSource* samples,
                         const std::string& path);

}  // namespace tessera::engine::vfs
