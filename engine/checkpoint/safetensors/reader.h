// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Opens checkpoints of the safetensors family. Checkpoint::Open calls these.

#include <memory>
#include <string>

#include "engine/checkpoint/checkpoint.h"
#include "ptc/base/result.h"

namespace tessera::checkpoint {

/// \error those of ReadHeader
Result<std::shared_ptr<const Checkpoint>> OpenSafetensors(const std::string& path);

/// A folder: the files that `*.safetensors.index.json` names, or all `*.safetensors`. They are of
/// kShardedSafetensors if one of them says where the boxes of its tensors lie, of kHuggingFace
/// otherwise.
/// \error those of ReadHeader and Checkpoint::Make; kNotFound naming a file of the index;
///     kInvalidArgument: two indices, an index that contradicts a file (with the offset in the
///     index), a tensor in two files, a box without an offset
Result<std::shared_ptr<const Checkpoint>> OpenSafetensorsFolder(const std::string& path);

}  // namespace tessera::checkpoint
