// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Reads folders of torch.distributed.checkpoint, and those of Megatron, which builds on it.

#include <string>

#include "engine/checkpoint/checkpoint.h"
#include "ptc/base/result.h"

namespace tessera::checkpoint {

/// Reads the `.metadata` of a folder and the sizes of its other files. The archive of a chunk is
/// opened when the chunk is first read.
/// \error as ReadDcpMetadata, and for a file that is missing or shorter than its chunks
Result<Contents> ReadDcpFolder(const std::string& path);

/// Reads a folder with latest_checkpointed_iteration.txt and folders such as iter_0000100/, or one
/// of these. Sets the metadata "iteration", "common" (common.pt as JSON) and "integrity" (the text
/// of integrity.json, whose checksums StatedSums lists).
/// \error as ReadDcpFolder, and for another backend than torch_dist
Result<Contents> ReadMegatronFolder(const std::string& path);

}  // namespace tessera::checkpoint
