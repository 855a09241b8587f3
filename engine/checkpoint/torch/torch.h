// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Checkpoints that PyTorch and Megatron wrote, without Python: nothing in them is executed.

#include <memory>
#include <string>

#include "engine/checkpoint/checkpoint.h"
#include "ptc/base/result.h"

namespace tessera::checkpoint {

/// Whether the path looks like one of these: a zip archive, or a folder with one of the files by
/// which they are known (a model in pytorch_model.bin only where there are no .safetensors).
bool IsTorch(const std::string& path);

/// Opens a file of torch.save, a folder of such files with an index, a folder of
/// torch.distributed.checkpoint, or one of Megatron's torch_dist (with its iterations, or one
/// iteration).
/// \error kNotFound where the folder has none of the files by which these are known; else as the
///     readers in dcp.h and torch_save.h
Result<std::shared_ptr<const Checkpoint>> OpenTorch(const std::string& path);

}  // namespace tessera::checkpoint
