// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Errors as the numbers that a reader of the mount sees.

#include "ptc/base/result.h"

namespace tessera::agents {

/// What was asked when the error came: an open may be tried again, a read has failed.
enum class FileAsk { kLookup, kOpen, kRead, kWrite };

/// ENOENT for what is not there, ESTALE for an inode to be looked up again, ENOSPC where the
/// memory of views is used up, EBUSY or ETIMEDOUT for a job that cannot be pinned now, EIO for
/// state that is lost or out of reach. To who writes: EROFS for what cannot be written, EINVAL for
/// a file that is not right, EBADMSG for a digest that is not, ECANCELED where a transaction was
/// rolled back.
int ErrnoOf(const Error& error, FileAsk ask);

/// Whether the error belongs to the everyday course of things and into no log.
bool IsOrdinary(const Error& error, FileAsk ask);

}  // namespace tessera::agents
