// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Opens checkpoints of the safetensors family, for Checkpoint::Open.

#include <memory>
#include <string>
#include <vector>

#include "engine/checkpoint/checkpoint.h"
#include "ptc/base/result.h"

namespace tessera::checkpoint {

/// Opens one file.
/// \error as ReadHeader
Result<std::shared_ptr<const Checkpoint>> OpenSafetensors(const std::string& path);

/// Opens a folder: the files that `*.safetensors.index.json` names, or all `*.safetensors`. The
/// format is kShardedSafetensors if a file states the offsets of its boxes, else kHuggingFace.
/// \error as ReadHeader and Checkpoint::Make; kNotFound for a missing file of the index;
///     kInvalidArgument for two indices, an index that contradicts a file (naming the byte of the
///     index), a tensor in two files, and a box without an offset
Result<std::shared_ptr<const Checkpoint>> OpenSafetensorsFolder(const std::string& path);

/// Opens a sharded checkpoint whose files are known, wherever they are.
/// \param place for messages
/// \error as OpenSafetensorsFolder, and those of `open`
Result<std::shared_ptr<const Checkpoint>> OpenSafetensorsFiles(
    const std::string& place, const std::vector<std::string>& files, const FileOpener& open);

}  // namespace tessera::checkpoint
