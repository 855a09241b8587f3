// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Writes a checkpoint anew in another format, cut for another mesh or with other dtypes.

#include <string>

#include "engine/checkpoint/checkpoint.h"
#include "engine/reshard/options.h"
#include "ptc/base/result.h"

namespace tessera::reshard {

/// Writes everything into DESTINATION.partial beside the destination and renames at the end; a
/// replaced destination is exchanged in one step and removed after it. Where an equal run was
/// interrupted, goes on with it. Interrupted itself, leaves the folder for the next one; refused,
/// leaves everything as it was. The source is only read.
/// \error kAlreadyExists: a destination (and no `replace`); kFailedPrecondition: an unfinished run
///     of other arguments, none where it must be resumed, or one under way; kDataLoss: elements
///     that are not those of the digests that the source states, or, with `verify`, of what was
///     written; kResourceExhausted: disk full; kCancelled: `watch` said so; and those of MakePlan
///     and the file system
Result<Report> Reshard(const checkpoint::Checkpoint& source, const std::string& destination,
                       const Options& options);

}  // namespace tessera::reshard
