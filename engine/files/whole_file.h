// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Small files, read and written as a whole.

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "ptc/base/result.h"

namespace tessera::engine {

/// No file that is read as a whole is near this; what is, is not what it is taken for.
inline constexpr std::int64_t kMaxWholeFileBytes = 256 << 20;

/// The bytes of a file. Files of /proc may go away while they are read: that is an error like any
/// other. \threadsafety Any thread.
/// \error kNotFound: no such file or process; kResourceExhausted: more than `max_bytes`;
/// kUnavailable: anything else. All are "cannot read 'PATH': the system's words".
Result<std::string> ReadWholeFile(const std::string& path,
                                  std::int64_t max_bytes = kMaxWholeFileBytes);

/// Puts `text` into a file so that whoever reads it, also after a crash or a loss of power, finds
/// the old bytes or the new ones and never a part. The bytes are written beside it, as
/// PATH.THREAD.new, put on disk, and renamed; an error leaves the old file and nothing else. A link
/// at `path` is replaced, not followed. \param mode of the file, less the process's umask
/// \threadsafety Any thread or process, also at once: one of the texts stays.
/// \error kResourceExhausted: disk or quota is full; kUnavailable: anything else. Both are "cannot
/// write 'PATH': the system's words".
Status WriteWholeFile(const std::string& path, std::string_view text, mode_t mode);

}  // namespace tessera::engine
