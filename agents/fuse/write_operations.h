// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The requests that change something: files of ranks that state is handed in with.

#include "agents/fuse/operations.h"

namespace tessera::agents {

/// An open that is not only for reading.
void OpenToWrite(fuse_req_t request, fuse_ino_t ino, fuse_file_info* file);
void AddWriteOperations(fuse_lowlevel_ops& operations);

}  // namespace tessera::agents
