// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Writes a checkpoint in another format, for another mesh, or with other dtypes.

#include <string>

#include "engine/checkpoint/checkpoint.h"
#include "engine/reshard/options.h"
#include "ptc/base/result.h"

namespace tessera::reshard {

/// Writes the output into DESTINATION.partial and renames it at the end. An existing destination is
/// exchanged with the output in one step and removed afterwards. The source is only read.
///
/// If an equal run was interrupted, this one resumes it. If this run is interrupted, it keeps the
/// folder for the next one. If it is refused, it changes nothing.
/// \error kAlreadyExists if the destination exists and `replace` is not set; kFailedPrecondition
///     for an unfinished run with other arguments, for a run in progress, and if `must_resume` is
///     set and there is no unfinished run; kDataLoss if elements do not match the digests that the
///     source states, or, with `verify`, those of what was written; kResourceExhausted if the disk
///     is full; kCancelled if `watch` returned false; and those of MakeReshardPlan and the file
///     system
Result<Report> Reshard(const checkpoint::Checkpoint& source, const std::string& destination,
                       const Options& options);

}  // namespace tessera::reshard
