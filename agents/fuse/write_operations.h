// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Requests that change the tree: files that hand state in.

#include "agents/fuse/operations.h"

namespace tessera::agents {

/// Opens a file for writing.
void OpenToWrite(fuse_req_t request, fuse_ino_t ino, fuse_file_info* file);
void AddWriteOperations(fuse_lowlevel_ops& operations);

}  // namespace tessera::agents
