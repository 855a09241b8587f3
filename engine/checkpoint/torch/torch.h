// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Opens checkpoints of PyTorch and Megatron without Python. Nothing in them is executed.

#include <memory>
#include <string>

#include "engine/checkpoint/checkpoint.h"
#include "ptc/base/result.h"

namespace tessera::checkpoint {

/// Whether the path is a zip archive, or a folder with one of the files that identify these
/// formats. A folder with both pytorch_model.bin and .safetensors files is not one of them.
bool IsTorch(const std::string& path);

/// Opens a file of torch.save, a folder of such files with an index, a folder of
/// torch.distributed.checkpoint, or a torch_dist folder of Megatron: all iterations, or one.
/// \error kNotFound if the folder has none of the files that identify these formats; as the readers
///     in dcp.h and torch_save.h
Result<std::shared_ptr<const Checkpoint>> OpenTorch(const std::string& path);

}  // namespace tessera::checkpoint
