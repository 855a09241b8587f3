// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Errors as errno values for programs that use the mount.

#include "ptc/base/result.h"

namespace tessera::agents {

/// The request that failed. A program may retry an open; a failed read is final.
enum class FileRequest { kLookup, kOpen, kRead, kWrite };

/// ENOENT for a missing name, ESTALE for an inode that must be looked up again, ENOSPC if the
/// memory for views is used up, EBUSY or ETIMEDOUT if the job cannot be pinned now, EIO for state
/// that is lost or out of reach. For writes: EROFS for a name that cannot be written, EINVAL for an
/// invalid file, EBADMSG for a wrong digest, ECANCELED if the transaction was rolled back.
int ErrnoOf(const Error& error, FileRequest request);

/// Whether the error is expected in normal use and therefore not logged.
bool IsOrdinary(const Error& error, FileRequest request);

}  // namespace tessera::agents
