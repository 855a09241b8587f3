// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Reads and writes small files as a whole.

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "ptc/base/result.h"

namespace tessera::engine {

/// More than any file that is read as a whole; a larger file is not the one that was meant.
inline constexpr std::int64_t kMaxWholeFileBytes = 256 << 20;

/// Reads all bytes of a file. A file of /proc may disappear while it is read, which is an error
/// like any other.
/// \error kNotFound: no such file or process; kResourceExhausted: more than `max_bytes`;
///     kUnavailable: anything else. All are "cannot read 'PATH': the system's words".
/// \threadsafety Any thread.
Result<std::string> ReadWholeFile(const std::string& path,
                                  std::int64_t max_bytes = kMaxWholeFileBytes);

/// Replaces the content of a file in one step: a reader finds the old bytes or the new ones, also
/// after a crash or a loss of power. The bytes are written to PATH.RANDOM.new, synced, and renamed.
/// An error leaves the old file and nothing else; a writer that is killed may leave its `.new`
/// file. A symbolic link at `path` is replaced, not followed.
/// \param mode of the file, before the umask of the process
/// \error kResourceExhausted: disk or quota is full; kUnavailable: anything else. Both are "cannot
///     write 'PATH': the system's words".
/// \threadsafety Any thread, process or host that shares the folder; the last rename wins.
Status WriteWholeFile(const std::string& path, std::string_view text, mode_t mode);

}  // namespace tessera::engine
