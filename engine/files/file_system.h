// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Whether a file is on a disk of this machine.

#include <cstdint>
#include <string>

namespace tessera::engine {

/// Whether other hosts may write to a file system at the same time, by statfs's f_type. Every type
/// that is not known to be local counts as shared: FUSE, because it may be sshfs, and unknown ones.
bool IsSharedFileSystem(std::int64_t type);

/// The same for the file system of a file, or of its folder if the file is missing. True if that
/// cannot be read.
bool IsOnSharedFileSystem(const std::string& path);

}  // namespace tessera::engine
