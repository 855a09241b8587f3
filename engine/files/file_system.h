// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Whether a file is on a disk of this machine.

#include <cstdint>
#include <string>

namespace tessera::engine {

/// Whether statfs's f_type is that of a file system that other hosts may write to at the same time.
/// FUSE counts as one, because it may be sshfs.
bool IsSharedFileSystem(std::int64_t type);

/// The same for the file system of a file, or of its folder if the file is missing. False if that
/// cannot be read.
bool IsOnSharedFileSystem(const std::string& path);

}  // namespace tessera::engine
