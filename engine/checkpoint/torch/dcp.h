// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Folders that torch.distributed.checkpoint wrote, and those of Megatron on top of it.

#include <string>

#include "engine/checkpoint/checkpoint.h"
#include "ptc/base/result.h"

namespace tessera::checkpoint {

/// A folder with .metadata. Reads that file and the sizes of the others; a chunk's archive is
/// opened when the chunk is first read.
/// \error as ReadDcpMetadata; a file that is missing or shorter than its chunks
Result<Contents> ReadDcpFolder(const std::string& path);

/// A folder with iter_0000100/ and the like and latest_checkpointed_iteration.txt, or one such
/// iteration. metadata(): "iteration", "common" (common.pt as JSON), "integrity" (the digests that
/// integrity.json states; they are not compared with the files here).
/// \error as ReadDcpFolder; another backend than torch_dist
Result<Contents> ReadMegatronFolder(const std::string& path);

}  // namespace tessera::checkpoint
